import { creditCost } from '../../../shared/licenses/credits.ts';
import type { Reply } from './functions.ts';
import type { Random } from './random.ts';
import type { Key } from './setup.ts';

/** A request as a client means it, however often it is sent. */
export interface ClientRequest {
  key: Key;
  body: string;
  credits: number;
  numOutputs: number;
  idempotencyKey: string | null;
  asEvents: boolean;
  respondAsync: boolean;
  /** The identity's version that it pins; null for the active one. */
  pinned: number | null;
}

/** What everybody asks for. It is stored in the record of their request and nowhere else. */
export const prompt = 'a picture of a lighthouse';

/** What every tier may have. */
export const smallBody = JSON.stringify({ identityId: 'idn_1', prompt, width: 512, height: 512 });

const sizes = [
  [512, 512],
  [512, 512],
  [1024, 1024],
  [1024, 1024],
  [1536, 1024],
  [2048, 2048],
] as const;

export function drawRequest(
  random: Random,
  key: Key,
  idempotencyKey: string | null,
  /** How likely it prefers not to wait, and how likely it has reference images. */
  shares: { async: number; references: number; hasVersions: boolean },
): ClientRequest {
  const [width, height] = random.pick(sizes);
  const numOutputs = random.pick([1, 1, 1, 2, 4]);
  const url = 'https://images.example/one.png';
  const references = random.chance(shares.references)
    ? { referenceImages: Array.from({ length: random.int(1, 3) }, () => ({ url })) }
    : {};
  const seed = random.chance(0.5) ? { seed: random.int(0, 1000) } : {};
  const pinned = shares.hasVersions && random.chance(0.5) ? random.int(1, 3) : null;
  const version = pinned === null ? {} : { identityVersion: pinned };
  return {
    key,
    body: JSON.stringify({
      identityId: 'idn_1',
      prompt,
      width,
      height,
      numOutputs,
      ...seed,
      ...references,
      ...version,
    }),
    credits: creditCost({ width, height, numOutputs }),
    numOutputs,
    idempotencyKey,
    asEvents: random.chance(0.2),
    respondAsync: random.chance(shares.async),
    pinned,
  };
}

/** What an answer says, whichever way it came. */
export interface Outcome {
  status: number;
  /** An error's code, null for a success. */
  code: string | null;
  sentence: string;
  requestId: string;
  answer: Record<string, any> | null;
}

export function readReply({ status, headers, body }: Reply): Outcome {
  const isStream = headers['content-type'] === 'text/event-stream';
  const last = JSON.parse(isStream ? body.trimEnd().split('\n').at(-1)!.slice('data: '.length) : body);
  const isError = last.code !== undefined;
  const said = last.status ?? (isError ? status : 200);
  return {
    status: status === 202 ? 202 : said,
    code: isError ? last.code : null,
    sentence: isError ? last.error : '',
    requestId: headers['x-request-id']!,
    answer: isError ? null : last,
  };
}
