import { expect, test } from '@jest/globals';
import { maxActiveKeys, newApiKey } from '../../shared/domain/api-key.ts';
import type { License } from '../../shared/domain/license.ts';
import { routes } from '../../shared/routes.ts';
import type { ApiKey } from '../../shared/store/api-key-store.ts';
import { median } from '../bench/statistics.ts';
import { grant, issueKey } from '../support/grants.ts';
import { useService } from '../support/use-service.ts';

// A guesser with a clock must not learn that a key exists. Equal reads are held by counting calls
// (test/http/refused-keys.test.ts), and that no refusal waits for a write by one that never ends
// (test/unit/http/authenticate.test.ts). Only a clock shows whether anything else takes longer. So this file alone compares times:
// ratios of medians, whose times were taken in turn.

const service = useService({ quickContainer: true });

const tries = 2000;
const { quota } = routes.createGeneration.limit;
/**
 * Of the time that a key which was never made takes. A key of an ended license took up to 0.27 more, since the rate log
 * is written meanwhile on the same processors.
 */
const tolerated = 0.5;
/** Another program may disturb one measurement. */
const measurements = 3;

/** Keys of licenses of a kind, as many as one license may have of each. */
async function keysOf(
  count: number,
  change: { license?: Partial<License>; key?: Partial<ApiKey> },
): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const { key, license } = await grant(service.table, { ...change.license, key: change.key ?? {} });
    keys.push(key);
    for (let i = 1; i < maxActiveKeys; i++)
      keys.push((await issueKey(service.table, license, change.key)).key);
  }
  return keys;
}

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
async function measure(kinds: [kind: string, keyOf: (i: number) => string][]): Promise<Map<string, number>> {
  const timesMs = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]));
  for (let i = 0; i < tries; i++) {
    const first = i % kinds.length;
    for (const [kind, keyOf] of [...kinds.slice(first), ...kinds.slice(0, first)])
      timesMs.get(kind)!.push(await refusalMs(keyOf(i)));
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
  const [revoked] = await keysOf(1, { key: { revokedAtMs: 1 } });
  const [expired] = await keysOf(1, { key: { createdAtMs: 0, expiresAtMs: 1 } });
  const spent = await keysOf(1, { license: { status: 'ended' } });
  for (const key of spent) for (let i = 0; i < quota; i++) await refusalMs(key);
  let ended: string[] = [];
  const kinds: Parameters<typeof measure>[0] = [
    ['never made', () => newApiKey()],
    ['revoked', () => revoked!],
    ['expired', () => expired!],
    ['of an ended license', (i) => ended[i % ended.length]!],
    ['of an ended license, with its limit used up', (i) => spent[i % spent.length]!],
  ];
  // The first requests wait for the compiler.
  for (let i = 0; i < 200; i++) for (const [, keyOf] of kinds.slice(0, 3)) await refusalMs(keyOf(i));
  let apart: string[] = [];
  for (let i = 0; i < measurements; i++) {
    // So many that none comes to its limit: each use of theirs is written to the rate log.
    ended = await keysOf(tries / (quota - 1), { license: { status: 'ended' } });
    apart = kindsApart(await measure(kinds));
    if (apart.length === 0) break;
  }
  expect(apart).toEqual([]);
}, 1_200_000);
