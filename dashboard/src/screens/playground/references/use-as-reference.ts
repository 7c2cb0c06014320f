import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router';
import { ApiError } from '@/api/api-error.ts';
import { useApi, type Api } from '@/api/client.ts';
import { generationOptions, isGone } from '@/api/queries.ts';
import type { IdentityAnswer, LicenseAnswer, StoredGeneration } from '@/lib/types.ts';
import { withoutParameters } from '@/lib/parameters.ts';
import { useRetention } from '@/lib/config.ts';
import { readAsReference, type PictureOf, outputFileName } from '@/lib/outputs.ts';
import { fetchPicture } from '@/lib/download.ts';
import { formStore, referenceStore } from '../stores.ts';
import type { Notice } from '../use-prefill.ts';
import { chooseForReference } from '../fill-form.ts';
import { freePlaces, referenceLimits, sendable } from './reference.ts';

export interface Brought extends Notice {
  /** Identities to choose from. */
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
    /** While the picture is fetched. */
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
async function add(file: File, to: Parameters<typeof referenceStore.addFiles>[1]): Promise<string | null> {
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
