import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { newGeneration, type Generation } from '../../../shared/domain/generation.ts';
import { newId, newRequestId } from '../../../shared/domain/ids.ts';
import { toItem } from '../../../shared/store/generation-item.ts';
import {
  generationStore,
  type GenerationFilter,
  type GenerationStore,
} from '../../../shared/store/generation-store.ts';
import { sampleBody, sampleIdentity } from '../../support/unit-samples.ts';
import { startTable, type TableWorld } from './table.ts';

let world: TableWorld;
let generations: GenerationStore;

beforeAll(async () => {
  world = await startTable();
  generations = generationStore(world.table);
});

afterAll(() => world.close());
beforeEach(() => world.mend());

const nowMs = Date.UTC(2026, 4, 17);

async function put(licenseId: string, changes: Partial<Generation> = {}): Promise<Generation> {
  const order = {
    requestId: newRequestId(nowMs),
    licenseId,
    keyId: 'key_1',
    identity: sampleIdentity,
    body: { ...sampleBody, seed: 5 },
    periodStartMs: 0,
    nowMs,
    deadlineSeconds: 120,
    retentionDays: 90,
    onceId: null,
  };
  const generation = { ...newGeneration(order), ...changes };
  const Item = toItem(generation);
  await world.table.documents.send(new PutCommand({ TableName: world.table.name, Item }));
  return generation;
}

/** A license with so many requests, newest first. */
async function historyOf(count: number, changes: (i: number) => Partial<Generation> = () => ({})) {
  const licenseId = newId('license');
  await put(newId('license'));
  const history: Generation[] = [];
  for (let i = 0; i < count; i++)
    history.unshift(await put(licenseId, { requestId: newRequestId(nowMs + i), ...changes(i) }));
  return { licenseId, history };
}

/** All pages of a history, with how much each asked the table for. */
async function walk(licenseId: string, limit: number, filter: GenerationFilter = {}) {
  const asked: number[] = [];
  const before = world.state.before;
  world.state.before = (name, input) => {
    if (name === 'QueryCommand') asked.push(input.Limit);
    return before(name, input);
  };
  const pages: Generation[][] = [];
  let next: string | null = null;
  do {
    const page = await generations.listPage(licenseId, { limit, before: next, filter, nowMs });
    pages.push(page.generations);
    next = page.next;
  } while (next !== null && pages.length < 20);
  world.state.before = before;
  return { pages, asked };
}

/** From here on the table looks at one record a query, and says that it looked at so many, or nothing of it. */
function stingy(scanned: number | undefined): void {
  world.state.before = (name, input) => {
    if (name === 'QueryCommand') input.Limit = 1;
    return undefined;
  };
  world.state.after = (_name, output) => {
    output.ScannedCount = scanned;
    return undefined;
  };
}

test('the newest requests are listed, so many, after another, and of no other license', async () => {
  const { licenseId, history } = await historyOf(4);
  expect(await generations.list(licenseId, 9, null)).toEqual(history);
  expect(await generations.list(licenseId, 2, null)).toEqual(history.slice(0, 2));
  expect(await generations.list(licenseId, 2, history[1]!.requestId)).toEqual(history.slice(2));
  expect(await generations.list(licenseId, 2, history[3]!.requestId)).toEqual([]);
  expect(await generations.list(newId('license'), 9, null)).toEqual([]);
});

describe('a history without a filter', () => {
  test.each([
    [1, [1, 1, 1, 1, 1]],
    [2, [2, 2, 1]],
    [4, [4, 1]],
    [5, [5]],
    [6, [5]],
  ])('comes in full pages of %i, and reads one more to know whether it goes on', async (limit, sizes) => {
    const { licenseId, history } = await historyOf(5);
    const { pages, asked } = await walk(licenseId, limit);
    expect(pages.map(({ length }) => length)).toEqual(sizes);
    expect(pages.flat()).toEqual(history);
    expect(asked).toEqual(sizes.map(() => limit + 1));
  });

  test('leaves out what is past its retention, to the millisecond', async () => {
    const ends = [nowMs + 1, nowMs, nowMs - 1, nowMs + 1];
    const { licenseId, history } = await historyOf(4, (i) => ({ expiresAtMs: ends[i]! }));
    expect((await walk(licenseId, 9)).pages).toEqual([[history[0], history[3]]]);
    expect(await generations.list(licenseId, 9, null)).toEqual(history);
  });

  test('is read strongly', async () => {
    const seen: unknown[] = [];
    world.state.before = (_name, input) => void seen.push(input);
    await walk(newId('license'), 5);
    expect(seen).toMatchObject([{ ConsistentRead: true }]);
  });
});

describe('a history with a filter', () => {
  const kinds: Partial<Generation>[] = [
    { status: 'COMPLETED', type: 'reference' },
    { status: 'FAILED', type: 'reference' },
    { status: 'COMPLETED', type: 'text_to_image' },
    { status: 'COMPLETED', type: 'reference', identity: { id: 'idn_2', name: 'n', slug: 's' } },
  ];

  test.each<[GenerationFilter, number[]]>([
    [{ status: 'COMPLETED' }, [3, 2, 0]],
    [{ type: 'reference' }, [3, 1, 0]],
    [{ identityId: 'idn_2' }, [3]],
    [{ identityId: 'idn_1', status: 'COMPLETED' }, [2, 0]],
    [{ identityId: 'idn_1', status: 'COMPLETED', type: 'reference' }, [0]],
    [{ status: 'TIMEOUT' }, []],
  ])('of %j has what matches all of it', async (filter, expected) => {
    const { licenseId, history } = await historyOf(4, (i) => kinds[i]!);
    const oldestFirst = history.toReversed();
    const { pages, asked } = await walk(licenseId, 9, filter);
    expect(pages).toEqual([expected.map((i) => oldestFirst[i])]);
    expect(asked).toEqual([200]);
    expect((await walk(licenseId, 1, filter)).pages.flat()).toEqual(pages.flat());
  });

  test('reads 200 records at once, or one more than the page where that is larger', async () => {
    const licenseId = newId('license');
    const filter = { status: 'FAILED' } as const;
    for (const [limit, batch] of [
      [5, 200],
      [199, 200],
      [200, 201],
      [300, 301],
    ] as const)
      expect((await walk(licenseId, limit, filter)).asked).toEqual([batch]);
  });

  test.each([
    ['says nothing of what it looked at, at which it counts what was asked for', undefined, 5],
    ['looked at 400', 400, 3],
    ['looked at 500', 500, 2],
    ['looked at 999', 999, 2],
    ['looked at 1000', 1000, 1],
  ])('looks at 1000 records a page, and no further: the table %s', async (_what, scanned, queries) => {
    const { licenseId, history } = await historyOf(8, (i) => ({ status: i === 0 ? 'FAILED' : 'COMPLETED' }));
    stingy(scanned);
    let sent = 0;
    const { before } = world.state;
    world.state.before = (name, input) => {
      sent += 1;
      return before(name, input);
    };
    const filter = { status: 'FAILED' } as const;
    const first = await generations.listPage(licenseId, { limit: 3, before: null, filter, nowMs });
    expect(first).toEqual({ generations: [], next: history[queries - 1]!.requestId });
    expect(sent).toBe(queries);
    const rest = (await walk(licenseId, 3, filter)).pages;
    expect(rest.flat()).toEqual([history[7]]);
  });

  test('ends a page as soon as it is full, and goes on behind it', async () => {
    const { licenseId, history } = await historyOf(6, () => ({ status: 'FAILED' }));
    stingy(1);
    const { pages } = await walk(licenseId, 2, { status: 'FAILED' });
    expect(pages).toEqual([history.slice(0, 2), history.slice(2, 4), history.slice(4)]);
  });
});

test('a request is found in whichever of many licenses it is, and in no other', async () => {
  const licenseIds = Array.from({ length: 201 }, () => newId('license'));
  let reads = 0;
  world.state.before = (name) => void (reads += name === 'BatchGetItemCommand' ? 1 : 0);
  for (const [i, expected] of [
    [0, 1],
    [99, 1],
    [100, 2],
    [200, 3],
  ] as const) {
    const generation = await put(licenseIds[i]!);
    reads = 0;
    expect(await generations.find(licenseIds, generation.requestId)).toEqual(generation);
    expect(reads).toBe(expected);
    expect(await generations.find(licenseIds.toSpliced(i, 1), generation.requestId)).toBeNull();
  }
  expect(await generations.find([], newRequestId(nowMs))).toBeNull();
});
