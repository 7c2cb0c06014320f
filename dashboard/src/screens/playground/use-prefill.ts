import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useApi } from '@/api/client.ts';
import { ApiError } from '@/api/api-error.ts';
import { useGeneration } from '@/api/queries.ts';
import type { IdentityAnswer, LicenseAnswer, StoredGeneration } from '@/lib/types.ts';
import { withoutParameters } from '@/lib/parameters.ts';
import { useRetention } from '@/lib/config.ts';
import { fillFromStored, fillReferences, fitToIdentities, fitToTier } from './fill-form.ts';
import type { Destination } from './references/reference-store.ts';
import { formStore, referenceStore, runStore } from './stores.ts';

export interface Notice {
  title: string;
  notes: string[];
}

/**
 * Fills the form from the stored request of `?from=`, within the license's limits. The parameter is then removed from
 * the address, so that a reload does not undo later changes.
 */
export function usePrefill(license: LicenseAnswer, identities: IdentityAnswer[] | undefined) {
  const [parameters, setParameters] = useSearchParams();
  const from = parameters.get('from') || null;
  const { data, error, isFetching, refetch } = useGeneration(from);
  const api = useApi();
  const retention = useRetention();
  const [notice, setNotice] = useState<Notice | null>(null);
  const unknown =
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429;
  useFitting(license, identities, setNotice);
  useEffect(() => {
    if (from === null || identities === undefined || (data === undefined && !unknown)) return;
    if (data === undefined) {
      setNotice({
        title: 'That request is not among your stored ones',
        notes: [`They are kept for ${retention}. The form is as you left it.`],
      });
    } else {
      const { values, notes } = fillFromStored(data, license, identities);
      formStore.change(values);
      const title = 'The settings of a stored request are filled in, with its seed';
      const identity = identities.find(({ id }) => id === values.identityId);
      const uploadTo = { api, licenseId: license.licenseId };
      setNotice({ title, notes: [...notes, ...bringReferences(data, identity, uploadTo)] });
    }
    setParameters(withoutParameters('from'), { replace: true });
  }, [from, data, unknown, identities, license, setParameters, api, retention]);
  return {
    /** While the stored request is fetched. */
    pending: from !== null && data === undefined && error === null,
    /** The request could not be fetched. Trying again may help. */
    error: from !== null && !unknown && !isFetching ? error : null,
    retry: () => void refetch(),
    notice,
    dismiss: () => setNotice(null),
  };
}

/** @returns sentences about them. */
export function bringReferences(
  stored: StoredGeneration,
  identity: IdentityAnswer | undefined,
  uploadTo: Destination,
): string[] {
  const own = runStore.sent(stored.id)?.command.references;
  const { items } = referenceStore.state();
  const { references, notes } = fillReferences(stored, own, items, identity);
  if (references !== items) referenceStore.replace(references, uploadTo);
  return notes;
}

/** Limits remembered values, or those of another license, to this license's tier. */
function useFitting(
  license: LicenseAnswer,
  identities: IdentityAnswer[] | undefined,
  show: (notice: Notice) => void,
): void {
  useEffect(() => {
    if (identities === undefined) return;
    const values = formStore.values();
    const known = identities.find(({ id }) => id === values.identityId);
    const tier = fitToTier(values, license);
    const identity = fitToIdentities(tier.values, identities, known?.name);
    formStore.change(identity.values);
    const notes = [...identity.notes, ...tier.notes];
    if (notes.length > 0) show({ title: `Adjusted to your license “${license.name}”`, notes });
  }, [license, identities, show]);
}

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
    setParameters(withoutParameters('identity', 'prompt'), { replace: true });
  }, [identities, identityId, prompt, setParameters]);
}
