import { Agent, request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { maxActiveKeys, newApiKey } from '../../shared/domain/api-key.ts';
import type { License } from '../../shared/domain/license.ts';
import { routes } from '../../shared/routes.ts';
import type { ApiKey } from '../../shared/store/api-key-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { grant, issueKey, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const tries = 2000;
const { quota } = routes.createGeneration.limit;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  agent.destroy();
  await service.end();
  removeFolder(service.dataDir);
});

/** Keys of licenses of a kind, as many as one license may have of each. */
async function keysOf(
  count: number,
  change: { license?: Partial<License>; key?: Partial<ApiKey> },
): Promise<string[]> {
  const keys: string[] = [];
  while (keys.length < count) {
    const { key, license } = await grant(table, { ...change.license, key: change.key ?? {} });
    keys.push(key);
    for (let i = 1; i < maxActiveKeys; i++) keys.push((await issueKey(table, license, change.key)).key);
  }
  return keys;
}

const ports = new Set<number | undefined>();

/** Asks for a picture, correctly but for the key. @returns how long the refusal took, in milliseconds. */
function refusalMs(key: string): Promise<number> {
  const { hostname, port, pathname } = new URL(service.ready.baseUrl);
  const body = JSON.stringify({ identityId: service.ready.identities.aurora, prompt: 'x' });
  const headers = { authorization: `Bearer ${key}`, 'content-length': String(body.length) };
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const target = { agent, hostname, port, method: 'POST', path: `${pathname}/generate`, headers };
    const sent = request(target, (response) => {
      ports.add(response.socket.localPort);
      response.resume().once('end', () => {
        if (response.statusCode === 401) resolve(performance.now() - startedMs);
        else reject(new Error(`a key that must be refused got ${response.statusCode}`));
      });
    });
    sent.once('error', reject).end(body);
  });
}

function shuffled<T>(items: T[]): T[] {
  return items
    .map((item) => ({ item, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

function median(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

test('a key that is refused takes as long as one that was never made: medians of 2,000 within 1 ms', async () => {
  const revoked = await keysOf(1, { key: { revokedAtMs: 1 } });
  const expired = await keysOf(1, { key: { createdAtMs: 0, expiresAtMs: 1 } });
  const spent = await keysOf(1, { license: { status: 'ended' } });
  for (const key of spent) for (let i = 0; i < quota; i++) await refusalMs(key);
  // So many that none comes to its limit: each use of theirs is written to the rate log.
  const ended = await keysOf(tries / (quota - 1), { license: { status: 'ended' } });
  const nextOf = (keys: string[]) => (i: number) => keys[i % keys.length]!;
  const kinds: Record<string, (i: number) => string> = {
    'never made': newApiKey,
    revoked: nextOf(revoked),
    expired: nextOf(expired),
    'of an ended license': nextOf(ended),
    'of an ended license, with its limit used up': nextOf(spent),
  };
  // The first requests wait for the compiler.
  for (let i = 0; i < 200; i++)
    for (const keyOf of Object.values(kinds).slice(0, 3)) await refusalMs(keyOf(i));
  const timesMs = new Map<string, number[]>(Object.keys(kinds).map((kind) => [kind, []]));
  for (let i = 0; i < tries; i++) {
    for (const [kind, keyOf] of shuffled(Object.entries(kinds))) {
      timesMs.get(kind)!.push(await refusalMs(keyOf(i)));
    }
  }
  expect(ports.size).toBe(1);
  const medians = new Map([...timesMs].map(([kind, times]) => [kind, median(times)]));
  console.log([...medians].map(([kind, ms]) => `${kind}: ${ms.toFixed(2)} ms`).join('\n'));
  for (const [kind, ms] of medians) {
    const apartMs = Math.abs(ms - medians.get('never made')!);
    expect({ kind, within: apartMs < 1, apartMs }).toMatchObject({ kind, within: true });
  }
}, 400_000);
