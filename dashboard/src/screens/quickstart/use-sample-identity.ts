import { useState } from 'react';
import { useIdentities } from '@/api/queries.ts';
import type { IdentityAnswer } from '@/api/types.ts';
import { useLicense } from '@/license/license-context.tsx';
import { identityToShow } from './identity-choice.ts';

export interface SampleIdentity {
  identities: IdentityAnswer[];
  /** What the samples use; a stand-in while there is none. */
  shown: Pick<IdentityAnswer, 'id' | 'name' | 'description'>;
  choose: (identityId: string) => void;
  pending: boolean;
  error: Error | null;
  retry: () => void;
  retrying: boolean;
}

/** An identity of the current license for the samples: the chosen one, or the first that is available. */
export function useSampleIdentity(): SampleIdentity {
  const { licenseId } = useLicense();
  const { data, error, isPending, refetch, isFetching } = useIdentities(licenseId);
  const [chosenId, setChosenId] = useState<string | null>(null);
  const identities = data ?? [];
  return {
    identities,
    shown: identityToShow(identities, chosenId),
    choose: setChosenId,
    pending: isPending,
    error: data === undefined ? error : null,
    retry: () => void refetch(),
    retrying: isFetching,
  };
}
