import { expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { median } from '../bench/statistics.ts';
import { grant } from '../support/grants.ts';
import { useService } from '../support/use-service.ts';

// A guesser with a clock must not learn that a key exists. Equal reads are held by counting calls
// (test/http/refused-keys.test.ts). Only a clock shows whether anything else takes longer. So this file alone compares times: ratios of
// medians, whose times were taken in turn. A good key of a license that has ended is not among them: its refusal says so.

const service = useService({ quickContainer: true });

const tries = 2000;
/** Of the time that a key which was never made takes. */
const tolerated = 0.5;
/** Another program may disturb one measurement. */
const measurements = 3;

/** Asks for a picture, correctly but for the key. @returns how long the refusal took, in milliseconds. */
async function refusalMs(key: string): Promise<number> {
  const body = { identityId: service.ready.identities.aurora, prompt: 'x' };
  const startedMs = performance.now();
  const { status } = await service.api({ path: '/generate', key, body });
  const tookMs = performance.now() - startedMs;
  expect(status).toBe(401);
  return tookMs;
}

/** The median of each kind. The kinds take turns, so that what else the machine does slows all of them alike. */
async function measure(kinds: [kind: string, keyOf: () => string][]): Promise<Map<string, number>> {
  const timesMs = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  for (let i = 0; i < tries; i++) {
    const first = i % kinds.length;
    for (const [kind, keyOf] of [...kinds.slice(first), ...kinds.slice(0, first)])
      timesMs.get(kind)!.push(await refusalMs(keyOf()));
  }
  const medians = new Map([...timesMs].map(([kind, times]) => [kind, median(times)]));
  console.log([...medians].map(([kind, ms]) => `${kind}: ${ms.toFixed(2)} ms`).join('\n'));
  return medians;
}

function kindsApart(medians: Map<string, number>): string[] {
  const usualMs = medians.get('never made')!;
  return [...medians.keys()].filter((kind) => Math.abs(medians.get(kind)! - usualMs) > tolerated * usualMs);
}

test('a key that is refused takes as long as one that was never made: medians of 2,000', async () => {
  const revoked = await grant(service.table, { key: { revokedAtMs: 1 } });
  const expired = await grant(service.table, { key: { createdAtMs: 0, expiresAtMs: 1 } });
  const kinds: Parameters<typeof measure>[0] = [
    ['never made', () => newApiKey()],
    ['revoked', () => revoked.key],
    ['expired', () => expired.key],
  ];
  // The first requests wait for the compiler.
  for (let i = 0; i < 200; i++) for (const [, keyOf] of kinds) await refusalMs(keyOf());
  let apart: string[] = [];
  for (let i = 0; i < measurements; i++) {
    apart = kindsApart(await measure(kinds));
    if (apart.length === 0) break;
  }
  expect(apart).toEqual([]);
}, 1_200_000);
