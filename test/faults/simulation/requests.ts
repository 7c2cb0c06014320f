import { creditCost } from '../../../shared/licenses/credits.ts';
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
