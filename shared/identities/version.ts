import { isoTime } from '../base/clock.ts';
import type { Sample } from './sample.ts';

/** What an identity makes its pictures with. Whatever would change a picture makes another version. So only its rights change. */
export interface IdentityVersion {
  /** From 1 on. */
  number: number;
  /** Null for what was there before versions were. */
  createdAtMs: number | null;
  /** What the operator says of it; null where nothing. */
  note: string | null;
  /** Key of its adapter weights in the bucket, null when the base model needs none. */
  adapterKey: string | null;
  /** SHA-256 of that file in lower-case hex, which the container checks; null when it was not given. */
  adapterSha256: string | null;
  /** What the adapter is for, as the stage calls it; null where no file of it was read. */
  baseModel: string | null;
  /** Passed to the model container as they are. */
  settings: Record<string, unknown>;
  words: VersionWords;
  rights: VersionRights;
}

/** What the identity says itself, beside its callers. */
export interface VersionWords {
  /** Words that call up what its adapter has learnt. */
  triggerWords: string[];
  /** Whether callers may read them. */
  showsTriggerWords: boolean;
  /** What the model gets in place of a prompt, which stands at `{prompt}`; null for the prompt as it is. */
  promptTemplate: string | null;
  /** The negative prompt of requests that send none. */
  negativePrompt: string | null;
  /** The size of requests that name no side. */
  sizePx: { width: number; height: number } | null;
}

/** What an operator knows of the right to make pictures with it. Null where nothing is known. */
export interface VersionRights {
  /** The name or the address of the licence. */
  license: string | null;
  /** Where it is from. */
  source: string | null;
  /** The creator's consent: SHA-256 of the document in lower-case hex, and its day. */
  consent: { sha256: string; date: string } | null;
}

export const noWords: VersionWords = {
  triggerWords: [],
  showsTriggerWords: false,
  promptTemplate: null,
  negativePrompt: null,
  sizePx: null,
};

export const noRights: VersionRights = { license: null, source: null, consent: null };

/** The base model, as it is. */
export const plainVersion: IdentityVersion = {
  number: 1,
  createdAtMs: null,
  note: null,
  adapterKey: null,
  adapterSha256: null,
  baseModel: null,
  settings: {},
  words: noWords,
  rights: noRights,
};

/** A version with what may change about it, which changes no picture. */
export interface StoredVersion extends IdentityVersion {
  /** Pictures that it made. */
  samples: Sample[];
  /** From then on it makes no more pictures; null while nobody plans to retire it. */
  retiresAtMs: number | null;
}

/** The active version as it is first stored by itself; null where there is none. */
export function activeVersion({
  model,
  samples,
}: Pick<StoredVersion, 'samples'> & { model: IdentityVersion | null }): StoredVersion | null {
  return model && { ...model, samples, retiresAtMs: null };
}

/** A request's version, where its body names another one than the active. */
export interface PinnedVersion {
  /** As it was sent. */
  asked: number;
  /** Null where the identity has none of this number. */
  found: StoredVersion | null;
}

/** By this a container keeps an adapter without a digest. No operator called a model so before there were versions. */
export function adapterVersionOf(number: number): string {
  return `version:${number}`;
}

/** Names sort keys of versions, so it has six digits at most. */
export const maxVersionNumber = 999_999;

export function isVersionNumber(value: unknown): value is number {
  return Number.isInteger(value) && 1 <= Number(value) && Number(value) <= maxVersionNumber;
}

/** @returns what is wrong with the version that a body names; null where nothing is. */
export function pinnedProblem(
  { name, model }: { name: string; model: IdentityVersion | null },
  pinned: PinnedVersion | null,
  nowMs: number,
): string | null {
  if (pinned === null) return null;
  const { asked, found } = pinned;
  const instead =
    model === null ? 'leave it out' : `leave it out for version ${model.number}, the active one`;
  if (found === null) return `${name} has no version ${asked}: ${instead}`;
  if (found.retiresAtMs === null || nowMs < found.retiresAtMs) return null;
  return `version ${asked} of ${name} was retired on ${isoTime(found.retiresAtMs).slice(0, 10)}: ${instead}`;
}

const placeholder = '{prompt}';

/** What the model gets for a prompt. */
export function promptOf({ promptTemplate }: VersionWords, prompt: string): string {
  // Not `replace` with the prompt itself, in which a dollar sign would mean something.
  return promptTemplate === null ? prompt : promptTemplate.split(placeholder).join(prompt);
}

/** Around a prompt, in characters. */
const maxTemplateCharacters = 200;

/** @returns what is wrong with a template; null where nothing is. */
export function templateProblem(template: string): string | null {
  const parts = template.split(placeholder);
  if (parts.length !== 2) return `must contain ${placeholder} once`;
  const around = [...parts.join('')].length;
  return around > maxTemplateCharacters
    ? `must have at most ${maxTemplateCharacters} characters around ${placeholder}, not ${around}`
    : null;
}

/** A body with what the version says for members that it leaves out. A single side is a size that was named. */
export function withDefaults(
  body: Record<string, unknown>,
  { negativePrompt, sizePx }: VersionWords,
): Record<string, unknown> {
  const isLeftOut = (member: string) => (body[member] ?? null) === null;
  const size = isLeftOut('width') && isLeftOut('height') ? sizePx : null;
  return {
    ...body,
    ...(negativePrompt !== null && isLeftOut('negativePrompt') && { negativePrompt }),
    ...size,
  };
}
