import { beforeAll, describe, expect, test } from '@jest/globals';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { generationStatuses, generationTypes } from '../../../shared/base/generation-kinds.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { toItem } from '../../../shared/generations/item.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import type { GenerationFilter, GenerationPage } from '../../../shared/generations/pages.ts';
import { sampleGeneration } from '../../support/unit-samples.ts';
import { useTable } from './use-engines.ts';
import { runs } from '../../support/runs.ts';

const fixture = useTable();
let generations: GenerationStore;

beforeAll(() => void (generations = generationStore(fixture.table)));

const nowMs = Date.UTC(2026, 4, 17);

/** Stores a history of this length under a new license. @returns it newest first. */
async function historyOf(count: number, changes: (i: number) => Partial<Generation> = () => ({})) {
  const licenseId = newId('license');
  const history = Array.from({ length: count }, (_, i) =>
    sampleGeneration({ licenseId, requestId: newRequestId(nowMs + i), ...changes(i) }),
  );
  const another = sampleGeneration({ licenseId: newId('license') });
  const { documents, name } = fixture.table;
  for (let i = 0; i < count; i += 24) {
    const items = [another, ...history.slice(i, i + 24)].map((one) => ({
      PutRequest: { Item: toItem(one) },
    }));
    await documents.send(new BatchWriteCommand({ RequestItems: { [name]: items } }));
  }
  return { licenseId, history: history.toReversed() };
}

/** All pages of a history, with how much each asked the table for. */
async function walk(licenseId: string, limit: number, filter: GenerationFilter = {}) {
  const asked: number[] = [];
  const before = fixture.state.before;
  fixture.state.before = (name, input) => {
    if (name === 'QueryCommand') asked.push(input.Limit);
    return before(name, input);
  };
  const pages: Generation[][] = [];
  let next: string | null = null;
  do {
    const page = await generations.listPage(licenseId, { limit, before: next, filter, reads: null, nowMs });
    pages.push(page.generations);
    next = page.next;
  } while (next !== null && pages.length < 100);
  fixture.state.before = before;
  return { pages, asked };
}

test('the newest requests are listed, so many, after another, and of no other license', async () => {
  const { licenseId, history } = await historyOf(4);
  expect(await generations.list(licenseId, 2, history[1]!.requestId)).toEqual(history.slice(2));
  expect(await generations.list(newId('license'), 9, null)).toEqual([]);
});

test('walking all pages gives exactly the records that match, in order, whatever limit and filter', async () => {
  const members = {
    status: fc.constantFrom(...generationStatuses),
    type: fc.constantFrom(...generationTypes),
    identityId: fc.constantFrom('idn_1', 'idn_2', 'idn_3'),
    keyId: fc.constantFrom('key_1', 'key_2', 'acct_1', 'acct_2'),
  };
  const prompts = fc.constantFrom('a red BAY', 'red hills', 'the Bay of hills');
  const ends = fc.constantFrom(nowMs + 1, nowMs + 1, nowMs + 1, nowMs, nowMs - 1);
  // How long after its id a request was accepted: 15 minutes at most.
  const lateMs = fc.constantFrom(0, 0, 3, 15 * 60 * 1000);
  const draft = fc.record({ ...members, prompt: prompts, expiresAtMs: ends, lateMs });
  const drafts = fc.array(draft, { maxLength: 40, size: 'max' });
  const instants = fc.oneof(
    fc.integer({ min: nowMs - 1, max: nowMs + 41 }),
    fc.constantFrom(-1, nowMs + 15 * 60 * 1000 + 20),
  );
  const anyFilter = fc.record(
    {
      ...members,
      keyId: fc.constantFrom('key_1', 'key_9', 'playground'),
      createdAfterMs: instants,
      createdBeforeMs: instants,
      words: fc.constantFrom(['bay'], ['hills', 'bay'], ['none']),
    },
    { requiredKeys: [] },
  );
  const one = (name: string, values: fc.Arbitrary<unknown>) => values.map((value) => ({ [name]: value }));
  const filters = fc.oneof(
    fc.constant({}),
    one('type', members.type),
    one('identityId', members.identityId),
    one('keyId', fc.constantFrom('key_1', 'playground')),
    one('createdAfterMs', instants),
    one('createdBeforeMs', instants),
    one('words', fc.constant(['bay'])),
    anyFilter,
  );
  const walks = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), filters), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(drafts, walks, async (all, wanted) => {
      const { licenseId, history } = await historyOf(all.length, (i) => {
        const { identityId, lateMs: late, ...rest } = all[i]!;
        return {
          ...rest,
          identity: { id: identityId, name: 'n', slug: 's' },
          createdAtMs: nowMs + i + late,
        };
      });
      for (const [limit, filter] of wanted as [number, GenerationFilter][]) {
        const { pages } = await walk(licenseId, limit, filter);
        expect(pages.flat()).toEqual(history.filter((record) => matches(record, filter)));
        for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
      }
    }),
    { numRuns: runs(10) },
  );
});

/** What a filter means, said without the table. */
function matches(one: Generation, filter: GenerationFilter): boolean {
  const { identityId, keyId, createdAfterMs = 0, createdBeforeMs = Infinity, words = [], ...rest } = filter;
  return (
    one.expiresAtMs > nowMs &&
    (identityId === undefined || one.identity.id === identityId) &&
    (keyId === undefined || (one.keyId.startsWith('acct_') ? 'playground' : one.keyId) === keyId) &&
    one.createdAtMs >= createdAfterMs &&
    one.createdAtMs < createdBeforeMs &&
    words.every((word) => one.prompt.toLowerCase().includes(word)) &&
    Object.entries(rest).every(([name, value]) => one[name as keyof Generation] === value)
  );
}

test('outside of a range of time nothing is read, whatever the cursor', async () => {
  const minute = 60_000;
  const at = (minutes: number) => nowMs + minutes * minute;
  const { licenseId, history } = await historyOf(90, (i) => ({
    requestId: newRequestId(at(i)),
    createdAtMs: at(i),
  }));
  let scanned = 0;
  fixture.state.after = (_name, output) => void (scanned += output.ScannedCount ?? 0);
  const filter = { createdAfterMs: at(50), createdBeforeMs: at(60) };
  const { pages, asked } = await walk(licenseId, 4, filter);
  expect(pages.flat()).toEqual(history.slice(30, 40));
  // A range alone leaves nothing out but the 15 minutes before it, so no more is asked for than for the page.
  expect(asked.every((limit) => limit === 5)).toBe(true);
  expect(scanned).toBe(27);
  scanned = 0;
  const query = (before: string) =>
    generations.listPage(licenseId, { limit: 4, before, filter, reads: null, nowMs });
  expect((await query(history[0]!.requestId)).generations).toEqual(history.slice(30, 34));
  expect(scanned).toBe(5);
  expect((await query(history[35]!.requestId)).generations).toEqual(history.slice(36, 40));
  // Accepted after it got its id, at the very end of a range: the next range has it.
  const late = await historyOf(1, () => ({ createdAtMs: at(1) }));
  const of = (filterOfOne: GenerationFilter) => walk(late.licenseId, 4, filterOfOne);
  expect((await of({ createdBeforeMs: at(1) })).pages.flat()).toEqual([]);
  expect((await of({ createdAfterMs: at(1) })).pages.flat()).toEqual(late.history);
  scanned = 0;
  expect(await query(history.at(-1)!.requestId)).toEqual({ generations: [], next: null });
  expect(scanned).toBe(0);
});

test('a page begins after the request of its cursor, whether that matches the filter or is there at all', async () => {
  const { licenseId, history } = await historyOf(4, (i) => ({
    status: i % 2 === 0 ? 'FAILED' : 'COMPLETED',
  }));
  const filter = { status: 'FAILED' } as const;
  for (const [before, listed] of [
    [history[0]!.requestId, [history[1], history[3]]],
    [history[1]!.requestId, [history[3]]],
    [newRequestId(0), []],
  ] as const)
    expect(
      (await generations.listPage(licenseId, { limit: 5, filter, reads: null, nowMs, before })).generations,
    ).toEqual(listed);
});

describe('a history without a filter', () => {
  test.each([
    [2, [2, 2, 1]],
    [5, [5]],
    [6, [5]],
  ])('comes in full pages of %i, and reads one more to know whether it goes on', async (limit, sizes) => {
    const { licenseId, history } = await historyOf(5);
    const { pages, asked } = await walk(licenseId, limit);
    expect(pages.map(({ length }) => length)).toEqual(sizes);
    expect(pages.flat()).toEqual(history);
    expect(asked).toEqual(sizes.map(() => limit + 1));
  });

  test('is read strongly', async () => {
    const seen: unknown[] = [];
    fixture.state.before = (_name, input) => void seen.push(input);
    await walk(newId('license'), 5);
    expect(seen).toMatchObject([{ ConsistentRead: true }]);
  });
});

describe('a history with a filter', () => {
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
    ['looked at 999', 999, 2],
    ['looked at 1000', 1000, 1],
  ])('looks at 1000 records a page, and no further: the table %s', async (_what, scanned, queries) => {
    const { licenseId, history } = await historyOf(8, (i) => ({ status: i === 0 ? 'FAILED' : 'COMPLETED' }));
    fixture.readOneByOne(scanned);
    const sent = fixture.count();
    const filter = { status: 'FAILED' } as const;
    const first = await generations.listPage(licenseId, {
      limit: 3,
      before: null,
      filter,
      reads: null,
      nowMs,
    });
    expect(first).toEqual({ generations: [], next: history[queries - 1]!.requestId });
    expect(sent.times).toBe(queries);
    const rest = (await walk(licenseId, 3, filter)).pages;
    expect(rest.flat()).toEqual([history[7]]);
  });

  test('of one key tells no id of the others, and leaves out none of its own', async () => {
    // Two in each millisecond.
    const { licenseId, history } = await historyOf(12, (i) => ({
      requestId: newRequestId(nowMs + (i >> 1)),
      keyId: i % 3 === 0 ? 'key_mine' : 'key_another',
    }));
    const pages: GenerationPage[] = [];
    do {
      fixture.readOneByOne(400);
      const before = pages.at(-1)?.next ?? null;
      const query = { limit: 5, before, filter: {}, reads: 'key_mine', nowMs };
      pages.push(await generations.listPage(licenseId, query));
    } while (pages.at(-1)!.next !== null);
    const others = history.filter(({ keyId }) => keyId !== 'key_mine').map(({ requestId }) => requestId);
    expect(others.filter((id) => JSON.stringify(pages).includes(id))).toEqual([]);
    const found = pages.flatMap((page) => page.generations.map(({ requestId }) => requestId));
    const own = history.filter(({ keyId }) => keyId === 'key_mine').map(({ requestId }) => requestId);
    expect([pages.length > 2, found.toSorted()]).toEqual([true, own.toSorted()]);
  });

  test('ends a page as soon as it is full, and goes on behind it', async () => {
    const { licenseId, history } = await historyOf(6, () => ({ status: 'FAILED' }));
    fixture.readOneByOne(1);
    const { pages } = await walk(licenseId, 2, { status: 'FAILED' });
    expect(pages).toEqual([history.slice(0, 2), history.slice(2, 4), history.slice(4)]);
  });
});

test('a request is found in whichever of many licenses it is, and in no other', async () => {
  const licenseIds = Array.from({ length: 201 }, () => newId('license'));
  for (const [i, reads] of [
    [0, 1],
    [99, 1],
    [100, 2],
    [200, 3],
  ] as const) {
    const { licenseId, history } = await historyOf(1);
    const sent = fixture.count('BatchGetItemCommand');
    const { requestId } = history[0]!;
    expect(await generations.find(licenseIds.with(i, licenseId), requestId)).toEqual(history[0]);
    expect(sent.times).toBe(reads);
    expect(await generations.find(licenseIds, requestId)).toBeNull();
  }
  expect(await generations.find([], newRequestId(nowMs))).toBeNull();
});
