import { creditCost } from '../../../shared/licenses/credits.ts';
import { basePath } from '../../../shared/routes/api.ts';
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
}

/** What everybody asks for. It is stored in the record of their request and nowhere else. */
export const prompt = 'a picture of a lighthouse';

/** What every tier may have. */
export const smallBody = JSON.stringify({
  identityId: 'idn_1',
  prompt,
  width: 512,
  height: 512,
});

const sizes = [
  [512, 512],
  [512, 512],
  [1024, 1024],
  [1024, 1024],
  [1536, 1024],
  [2048, 2048],
] as const;

export interface RequestChoice {
  key: Key;
  idempotencyKey: string | null;
  /** How likely it prefers not to wait. */
  async: number;
  /** How likely it has reference images. */
  references: number;
}

export function drawRequest(
  random: Random,
  { key, idempotencyKey, async, references: share }: RequestChoice,
): ClientRequest {
  const [width, height] = random.pick(sizes);
  const numOutputs = random.pick([1, 1, 1, 2, 4]);
  const url = 'https://images.example/one.png';
  const references = random.chance(share)
    ? { referenceImages: Array.from({ length: random.int(1, 3) }, () => ({ url })) }
    : {};
  const seed = random.chance(0.5) ? { seed: random.int(0, 1000) } : {};
  const body = {
    identityId: 'idn_1',
    prompt,
    width,
    height,
    numOutputs,
    ...seed,
    ...references,
  };
  return {
    key,
    body: JSON.stringify(body),
    credits: creditCost({ width, height, numOutputs }),
    numOutputs,
    idempotencyKey,
    asEvents: random.chance(0.2),
    respondAsync: random.chance(async),
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

export function readReply(reply: Reply): Outcome {
  const last =
    reply.headers['content-type'] === 'text/event-stream' ? lastEvent(reply.body) : JSON.parse(reply.body);
  const isRecord = reply.status === 202;
  const status = isRecord ? 202 : (last.status ?? (last.code === undefined ? 200 : reply.status));
  const isError = last.code !== undefined;
  return {
    status,
    code: isError ? last.code : null,
    sentence: isError ? last.error : '',
    requestId: reply.headers['x-request-id']!,
    answer: isError ? null : last,
  };
}

function lastEvent(text: string): Record<string, any> {
  const data = text.trimEnd().split('\n').at(-1)!;
  return JSON.parse(data.slice('data: '.length));
}

/** Why an answer is not that to a request that was accepted; null when it is. */
export function wrongAcceptance(
  { status, headers }: Reply,
  { answer, requestId }: Outcome,
  credits: number,
): string | null {
  const expected = { requestId, status: 'QUEUED', creditsReserved: credits };
  if (JSON.stringify(answer) !== JSON.stringify(expected)) return `${status} ${JSON.stringify(answer)}`;
  if (headers['preference-applied'] !== 'respond-async') return 'no preference was applied';
  if (headers.location !== `${basePath}/generate/${requestId}`) return `its address is ${headers.location}`;
  return Number(headers['retry-after']) > 0 ? null : 'nothing says when to look at it';
}
