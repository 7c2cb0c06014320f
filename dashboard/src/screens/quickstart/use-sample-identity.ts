import { useState } from 'react';
import { useIdentities } from '@/api/queries.ts';
import { useLicense } from '@/license/license-choice.ts';
import { identityToShow } from './samples.ts';

export type SampleIdentity = ReturnType<typeof useSampleIdentity>;

/** An identity of the current license for the samples: the chosen one, or the first that is available. */
export function useSampleIdentity() {
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
