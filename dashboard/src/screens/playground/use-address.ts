import { useEffect } from 'react';
import { useSearchParams } from 'react-router';
import type { IdentityAnswer } from '@/api/types.ts';
import { formStore } from './stores.ts';

/**
 * Fills in the identity and the prompt of `?identity=…&prompt=…`, as pages of identities link to it. They are then removed
 * from the address, so that a reload does not undo later changes. What the license can't use is left out.
 */
export function useAddress(identities: IdentityAnswer[] | undefined): void {
  const [parameters, setParameters] = useSearchParams();
  const identityId = parameters.get('identity');
  const prompt = parameters.get('prompt');
  useEffect(() => {
    if (identities === undefined || (identityId === null && prompt === null)) return;
    const identity = identities.find(({ id }) => id === identityId);
    formStore.change({
      ...(identity?.available && { identityId: identity.id }),
      ...(prompt !== null && { prompt }),
    });
    const without = (now: URLSearchParams): URLSearchParams => {
      now.delete('identity');
      now.delete('prompt');
      return now;
    };
    setParameters(without, { replace: true });
  }, [identities, identityId, prompt, setParameters]);
}
