import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';
import { ApiError } from '@/api/api-error.ts';
import { useApi, type Api } from '@/api/client.ts';
import { generationOptions, isGone, useGeneration } from '@/api/queries.ts';
import type { IdentityAnswer, LicenseAnswer, StoredGeneration } from '@/lib/types.ts';
import { useRetention } from '@/lib/config.ts';
import { fetchPicture } from '@/lib/download.ts';
import { outputFileName, readAsReference, type PictureOf } from '@/lib/outputs.ts';
import { withoutParameters } from '@/lib/parameters.ts';
import { isolated } from '@/lib/text.ts';
import {
  chooseForReference,
  chooseIdentity,
  fillFromStored,
  fillReferences,
  fitToIdentities,
  fitToTier,
} from './fill-form.ts';
import { freePlaces, referenceLimits, sendable } from './references/reference.ts';
import type { Destination } from './references/reference-store.ts';
import { formStore, referenceStore, runStore } from './stores.ts';

/** A seed is the noise that a picture begins with, and there is more of it in a larger one. */
const sameAgain =
  'The same settings make the same image again. Another size makes a different one, also with this seed.';

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
      setNotice({ title, notes: [...notes, sameAgain, ...bringReferences(data, identity, uploadTo)] });
    }
    setParameters(withoutParameters('from'), { replace: true });
  }, [from, data, unknown, identities, license, setParameters, api, retention]);
  return {
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
    const identity = fitToIdentities(tier.values, identities, license, known?.name);
    formStore.change(identity.values);
    const notes = [...identity.notes, ...tier.notes];
    if (notes.length > 0) show({ title: `Adjusted to your license “${isolated(license.name)}”`, notes });
  }, [license, identities, show]);
}

/**
 * Fills in what `?identity=…&version=…&compare=…&prompt=…` names, as pages of identities link to it. It is then removed from
 * the address, so that a reload does not undo later changes. What the license can't use is left out.
 */
export function useAddress(license: LicenseAnswer, identities: IdentityAnswer[] | undefined): void {
  const [parameters, setParameters] = useSearchParams();
  const identityId = parameters.get('identity');
  const version = versionOf(parameters.get('version'));
  const compare = versionOf(parameters.get('compare'));
  const prompt = parameters.get('prompt');
  useEffect(() => {
    if (identities === undefined || (identityId === null && prompt === null)) return;
    const identity = identities.find(({ id }) => id === identityId);
    formStore.change({
      ...(identity?.available && {
        ...chooseIdentity(formStore.values(), identity, license),
        identityVersion: version,
        otherVersion: compare,
      }),
      ...(prompt !== null && { prompt }),
    });
    setParameters(withoutParameters('identity', 'version', 'compare', 'prompt'), { replace: true });
  }, [license, identities, identityId, version, compare, prompt, setParameters]);
}

function versionOf(text: string | null): string {
  return /^[1-9]\d{0,5}$/.test(text ?? '') ? text! : '';
}

interface Brought extends Notice {
  others: IdentityAnswer[];
}

/**
 * Adds the picture of `?reference=` to the reference images of the form, which stays as it is otherwise. The parameters
 * are then removed from the address, so that a reload does not add it again.
 */
export function useAsReference(license: LicenseAnswer, identities: IdentityAnswer[] | undefined) {
  const [parameters, setParameters] = useSearchParams();
  const picture = readAsReference(parameters);
  const { requestId, index } = picture ?? { requestId: null, index: 0 };
  const api = useApi();
  const queries = useQueryClient();
  const retention = useRetention();
  const [attempt, setAttempt] = useState(0);
  const [outcome, setOutcome] = useState<Brought | { error: unknown } | null>(null);
  const isWanted = requestId !== null;
  useEffect(() => {
    if (requestId === null || identities === undefined) return;
    const controller = new AbortController();
    const { signal } = controller;
    setOutcome(null);
    const run = async (): Promise<void> => {
      const options = { api, queries, license, identities, retention, signal };
      const result = await bring({ requestId, index }, options).catch((error: unknown) => ({ error }));
      if (signal.aborted) return;
      setOutcome(result);
      // After a failure the address stays, so that a reload tries again.
      if (!('error' in result)) setParameters(withoutPicture, { replace: true });
    };
    void run();
    return () => controller.abort();
  }, [requestId, index, attempt, identities, license, api, queries, retention, setParameters]);
  return {
    pending: isWanted && outcome === null,
    outcome,
    retry: () => setAttempt((count) => count + 1),
    dismiss: () => {
      setOutcome(null);
      if (isWanted) setParameters(withoutPicture, { replace: true });
    },
  };
}

const withoutPicture = withoutParameters('reference', 'image');

interface BringOptions {
  api: Api;
  queries: QueryClient;
  license: LicenseAnswer;
  identities: IdentityAnswer[];
  /** How long requests are kept: `90 days`. */
  retention: string;
  signal: AbortSignal;
}

/** @throws ApiError where another try may help */
async function bring(picture: PictureOf, options: BringOptions): Promise<Brought> {
  const { api, queries, license, identities, retention, signal } = options;
  if (!license.usable) return refused('Your license makes no images now.');
  const query = generationOptions(api, queries, picture.requestId);
  const stored = await queries.query(query).catch((error: unknown) => {
    if (isGone(error)) return null;
    throw error;
  });
  if (stored === null)
    return refused(`Its request is not among your stored ones. They are kept for ${retention}.`);
  if (stored.outputs[picture.index] === undefined) return refused('Its request has no such picture.');
  const choice = chooseForReference(identities, stored.identity, formStore.values().identityId);
  if ('problem' in choice) return refused(choice.problem);
  const renew = async () => (await queries.query({ ...query, staleTime: 0 })).outputs;
  const file = await fileOf(stored, picture.index, renew, signal);
  signal.throwIfAborted();
  const problem = await add(file, { api, licenseId: license.licenseId });
  if (problem !== null) return refused(problem);
  const { identityId, others, note } = choice;
  formStore.change({ identityId, referenceMode: 'reference' });
  const title = 'The picture is added to the reference images';
  return { title, notes: note === null ? ['The rest of the form is as you left it.'] : [note], others };
}

function refused(why: string): Brought {
  return { title: 'The picture was not added to the reference images', notes: [why], others: [] };
}

/** The picture as a file that is the same each time, so that it is added once. */
async function fileOf(
  stored: StoredGeneration,
  index: number,
  renew: () => Promise<string[]>,
  signal: AbortSignal,
): Promise<File> {
  const { id, identity, seed, outputs } = stored;
  const { blob, link } = await fetchPicture({ outputs, index, renew, signal });
  if (blob === null) {
    const sentence = 'The picture could not be loaded. Check your connection and try again.';
    throw new ApiError(sentence, { status: 0, code: 'NETWORK' });
  }
  const name = outputFileName({ requestId: id, identityName: identity.name, seed }, index, link);
  return new File([blob], name, { type: blob.type, lastModified: Date.parse(stored.createdAt) });
}

/** @returns why it can't be added */
async function add(file: File, to: Destination): Promise<string | null> {
  const isIt = (item: { kind: string }): boolean =>
    item.kind === 'file' && (item as { file?: File }).file?.name === file.name;
  const { items } = referenceStore.state();
  if (freePlaces(items) === 0 && !items.some(isIt)) {
    return `There are ${referenceLimits.maxItems} already, which is the most. Remove one, then use the picture again.`;
  }
  await referenceStore.addFiles([file], to);
  const after = referenceStore.state().items;
  const wrong = after.find((item) => item.kind === 'refused' && item.name === file.name);
  if (wrong !== undefined) return wrong.problem;
  return sendable(after).some(isIt) ? null : 'It could not be added. Try again.';
}
