import type { PlaygroundBody } from '../../api/generate.ts';
import type { StoredGeneration, GenerationStatus } from '../../lib/types.ts';
import { formatCount, formatDuration } from '../../lib/format.ts';
import type { ModelHealth } from '../../api/queries.ts';
import { nameRefusals, type Reference } from './references/reference.ts';
import type { Size } from './sizes.ts';

/** What is known of a run before and after it is stored. */
export interface RunFacts extends Size {
  prompt: string;
  identityName: string;
  /** Null for the active one, until the request is stored. */
  identityVersion: number | null;
  numOutputs: number;
  startedAtMs: number;
}

export function factsOfBody(body: PlaygroundBody, identityName: string, startedAtMs: number): RunFacts {
  const { prompt, identityVersion = null, width = 1024, height = 1024, numOutputs = 1 } = body;
  return { prompt, identityName, identityVersion, width, height, numOutputs, startedAtMs };
}

/** @param startedAtMs when this browser sent it, which may have another clock than the service */
export function factsOfStored(stored: StoredGeneration, startedAtMs?: number): RunFacts {
  const { prompt, identity, identityVersion, width, height, numOutputs, createdAt } = stored;
  const facts = { prompt, identityVersion, width, height, numOutputs, identityName: identity.name };
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

/** Where a run is: on its way to the service, or what its stored request says. */
export type Stage = 'uploading' | 'sending' | GenerationStatus;

export function stageText(stage: Stage, health: ModelHealth = {}): string {
  if (stage === 'uploading') return 'Uploading your images';
  if (stage === 'sending') return 'Sending';
  if (stage === 'PROCESSING') return 'The image is being made';
  const { model, modelReadyInSeconds: seconds = null } = health;
  if (model === 'waking' || model === 'asleep') {
    return `The model is starting. ${seconds === null ? 'This may take a few minutes' : aboutText(seconds)}.`;
  }
  if (model === 'unavailable') return 'The model can’t be reached now. Waiting for it';
  return 'Waiting for its turn';
}

/** Before anything is sent: that the model has to start first. Null where it is there. */
export function startText({ model, modelReadyInSeconds: seconds = null }: ModelHealth = {}): string | null {
  if (model === 'unavailable') return 'The model can’t be reached now: a request waits for it.';
  if (model !== 'asleep' && model !== 'waking') return null;
  const howLong = seconds === null ? 'it may take a few minutes' : aboutText(seconds).toLowerCase();
  return model === 'asleep' ? `The model starts first: ${howLong}.` : `The model is starting: ${howLong}.`;
}

/** What can be taken back, and what leaving the page does. */
export function stopText(stage: Stage): string {
  if (stage === 'uploading') return 'Nothing is ordered yet: Cancel takes it back, and nothing is charged.';
  if (stage === 'sending') return 'Closing this page does not end it: you find it in your history.';
  return 'Cancel ends it, and nothing is charged. Closing this page does not end it.';
}

/** `About 4 minutes`, `About 40 seconds`: rounded, because it is an estimate. */
function aboutText(seconds: number): string {
  if (seconds <= 5) return 'A few seconds more';
  if (seconds < 55) return `About ${Math.ceil(seconds / 10) * 10} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? 'About 1 minute' : `About ${minutes} minutes`;
}
