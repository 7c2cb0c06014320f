import type { PlaygroundBody } from '../../api/generate.ts';
import type { StoredGeneration } from '../../api/types.ts';
import { formatCount, formatDuration } from '../../lib/format.ts';
import { nameRefusals, type Reference } from './references/reference.ts';
import type { Size } from './sizes.ts';

/** What is known of a run before and after it is stored. */
export interface RunFacts extends Size {
  prompt: string;
  identityName: string;
  numOutputs: number;
  startedAtMs: number;
}

export function factsOfBody(body: PlaygroundBody, identityName: string, startedAtMs: number): RunFacts {
  const { prompt, width = 1024, height = 1024, numOutputs = 1 } = body;
  return { prompt, identityName, width, height, numOutputs, startedAtMs };
}

/** @param startedAtMs when this browser sent it, which may have another clock than the service */
export function factsOfStored(stored: StoredGeneration, startedAtMs?: number): RunFacts {
  const { prompt, identity, width, height, numOutputs, createdAt } = stored;
  const facts = { prompt, width, height, numOutputs, identityName: identity.name };
  return { ...facts, startedAtMs: startedAtMs ?? Date.parse(createdAt) };
}

export function readyText({
  outputs,
  processingTimeMs,
}: Pick<StoredGeneration, 'outputs' | 'processingTimeMs'>): string {
  const images = formatCount(outputs.length, 'image');
  const taken = processingTimeMs === null ? '' : `, made in ${formatDuration(processingTimeMs)}`;
  return `${images} ${outputs.length === 1 ? 'is' : 'are'} ready${taken}.`;
}

/** Why a request has no images. Reference images have the names that people know, where the page still has them. */
export function failureText(
  { errorMessage, status }: StoredGeneration,
  references: readonly Reference[] = [],
): string {
  const why =
    errorMessage ??
    (status === 'TIMEOUT' ? 'The image was not finished in time.' : 'The image could not be finished.');
  return nameRefusals(`${why} Nothing was charged.`, references);
}
