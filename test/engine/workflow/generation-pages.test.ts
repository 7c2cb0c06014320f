import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import { generationStatuses, generationTypes } from '../../../shared/contracts/generation.ts';
import type { Generation } from '../../../shared/domain/generation.ts';
import { newId, newRequestId } from '../../../shared/domain/ids.ts';
import { toItem } from '../../../shared/store/generation-item.ts';
import type { GenerationFilter, GenerationPage, PageOrder } from '../../../shared/store/generation-pages.ts';
import type { GenerationStore } from '../../../shared/store/generation-store.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let generations: GenerationStore;

beforeAll(async () => {
  world = await startWorld();
  generations = world.deps.generations;
});

afterAll(() => world.close());

const nowMs = Date.UTC(2026, 10, 1);
const identityIds = ['idn_1', 'idn_2', 'idn_3'];

type Draft = Pick<Generation, 'status' | 'type'> & { identityId: string; expiresAtMs: number };

const usual: Draft = {
  status: 'COMPLETED',
  type: 'text_to_image',
  identityId: 'idn_1',
  expiresAtMs: nowMs + 1,
};

/** A license with this history, given oldest first. @returns it newest first. */
async function store(licenseId: string, drafts: Draft[]): Promise<Generation[]> {
  const history = drafts.map(({ identityId, ...draft }, i): Generation => ({
    requestId: newRequestId(nowMs - (drafts.length - i)),
    licenseId,
    keyId: 'key_1',
    identity: { id: identityId, name: 'n', slug: 's' },
    prompt: 'x',
    negativePrompt: '',
    seed: i,
    steps: 30,
    cfgScale: 7.5,
    width: 512,
    height: 512,
    numOutputs: 1,
    outputFormat: 'png',
    referenceMode: 'reference',
    preserveBranding: false,
    referenceImages: 0,
    credits: 1,
    periodStartMs: 0,
    createdAtMs: nowMs - (drafts.length - i),
    deadlineMs: nowMs,
    leaseUntilMs: nowMs,
    startedAtMs: null,
    completedAtMs: null,
    errorMessage: null,
    errorCode: null,
    referenceImagesUsed: 0,
    modelVersion: null,
    onceId: null,
    ...draft,
  }));
  const { documents, name } = world.table;
  for (let i = 0; i < history.length; i += 25) {
    const writes = history.slice(i, i + 25).map((one) => ({ PutRequest: { Item: toItem(one) } }));
    const { UnprocessedItems: left } = await documents.send(
      new BatchWriteCommand({ RequestItems: { [name]: writes } }),
    );
    expect(left).toEqual({});
  }
  return history.toReversed();
}

/** Every page until the last. */
async function walk(licenseId: string, order: Omit<PageOrder, 'before'>): Promise<GenerationPage[]> {
  const pages: GenerationPage[] = [];
  let before: string | null = null;
  do {
    const page: GenerationPage = await generations.listPage(licenseId, { ...order, before });
    pages.push(page);
    before = page.next;
  } while (before !== null && pages.length < 3000);
  return pages;
}

function matching(history: Generation[], { identityId, status, type }: GenerationFilter): Generation[] {
  return history.filter(
    (one) =>
      one.expiresAtMs > nowMs &&
      (identityId === undefined || one.identity.id === identityId) &&
      (status === undefined || one.status === status) &&
      (type === undefined || one.type === type),
  );
}

const requestIds = (list: Generation[]) => list.map(({ requestId }) => requestId);

const anyDraft: fc.Arbitrary<Draft> = fc.record({
  status: fc.constantFrom(...generationStatuses),
  type: fc.constantFrom(...generationTypes),
  identityId: fc.constantFrom(...identityIds),
  expiresAtMs: fc.constantFrom(nowMs + 1, nowMs + 1, nowMs + 1, nowMs, nowMs - 1),
});

const narrowing = {
  status: fc.constantFrom(...generationStatuses),
  type: fc.constantFrom(...generationTypes),
  identityId: fc.constantFrom(...identityIds, 'idn_none'),
};
/** Mostly one that leaves enough for several pages. */
const anyFilter: fc.Arbitrary<GenerationFilter> = fc.oneof(
  fc.constant({}),
  fc.record({ type: narrowing.type }),
  fc.record({ identityId: narrowing.identityId }),
  fc.record(narrowing, { requiredKeys: [] }),
);

const anyLimit = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 7 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 100 }) },
);

test('walking all pages gives exactly the records that match, in order, whatever limit and filter', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyDraft, { maxLength: 60, size: 'max' }),
      fc.array(fc.tuple(anyLimit, anyFilter), { minLength: 1, maxLength: 5 }),
      async (drafts, walks) => {
        const licenseId = newId('license');
        const history = await store(licenseId, drafts);
        for (const [limit, filter] of walks) {
          const pages = await walk(licenseId, { limit, filter, nowMs });
          expect(pages.flatMap((page) => page.generations)).toEqual(matching(history, filter));
          for (const page of pages) expect(page.generations.length).toBeLessThanOrEqual(limit);
        }
      },
    ),
    { numRuns: 60 },
  );
}, 90_000);

describe('a page', () => {
  test('is full whenever more follows, without a filter', async () => {
    const licenseId = newId('license');
    await store(
      licenseId,
      Array.from({ length: 25 }, () => usual),
    );
    for (const [limit, sizes] of [
      [10, [10, 10, 5]],
      [5, [5, 5, 5, 5, 5]],
      [24, [24, 1]],
      [25, [25]],
      [26, [25]],
    ] as const) {
      const pages = await walk(licenseId, { limit, filter: {}, nowMs });
      expect(pages.map((page) => page.generations.length)).toEqual(sizes);
    }
  });

  test('begins after the request of the cursor, whether that matches the filter or is there at all', async () => {
    const licenseId = newId('license');
    const history = await store(licenseId, [
      { ...usual, status: 'FAILED' },
      usual,
      { ...usual, status: 'FAILED' },
      usual,
    ]);
    const filter = { status: 'FAILED' } as const;
    const page = (before: string) => generations.listPage(licenseId, { limit: 5, filter, nowMs, before });
    expect(requestIds((await page(history[0]!.requestId)).generations)).toEqual(
      requestIds([history[1]!, history[3]!]),
    );
    expect(requestIds((await page(history[1]!.requestId)).generations)).toEqual(requestIds([history[3]!]));
    expect((await page(newRequestId(0))).generations).toEqual([]);
    expect((await page(newRequestId(nowMs + 1))).generations).toHaveLength(2);
  });

  test('holds nothing of another license, nor anything that is past its retention', async () => {
    const [licenseId, other] = [newId('license'), newId('license')];
    await store(other, [usual, usual]);
    const history = await store(licenseId, [usual, { ...usual, expiresAtMs: nowMs }, usual]);
    const page = await generations.listPage(licenseId, { limit: 9, filter: {}, nowMs, before: null });
    expect(requestIds(page.generations)).toEqual(requestIds([history[0]!, history[2]!]));
    expect(page.next).toBeNull();
  });
});

describe('a history of 2,500 requests of which a filter matches few', () => {
  const licenseId = newId('license');
  let history: Generation[];

  beforeAll(async () => {
    const drafts = Array.from({ length: 2500 }, (_, i) => {
      const status = i === 0 || i === 1 || i === 1250 ? 'TIMEOUT' : 'COMPLETED';
      return { ...usual, status } as const;
    });
    history = await store(licenseId, drafts);
  });

  test('has an empty page that is not the last, and loses nothing by it', async () => {
    const filter = { status: 'TIMEOUT' } as const;
    for (const limit of [1, 2, 100]) {
      const pages = await walk(licenseId, { limit, filter, nowMs });
      expect(pages[0]!.generations).toEqual([]);
      expect(pages[0]!.next).not.toBeNull();
      expect(pages.flatMap((page) => requestIds(page.generations))).toEqual(
        requestIds(matching(history, filter)),
      );
      expect(pages.length).toBeLessThanOrEqual(5);
    }
  });

  test('is walked to its end when nothing matches', async () => {
    const pages = await walk(licenseId, { limit: 20, filter: { identityId: 'idn_none' }, nowMs });
    expect(pages.flatMap((page) => page.generations)).toEqual([]);
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.length).toBeLessThanOrEqual(4);
  });

  test('is walked in full pages by a filter that matches nearly all', async () => {
    const filter = { status: 'COMPLETED' } as const;
    const pages = await walk(licenseId, { limit: 100, filter, nowMs });
    expect(pages.map((page) => page.generations.length)).toEqual([...Array(24).fill(100), 97]);
    expect(pages.flatMap((page) => requestIds(page.generations))).toEqual(
      requestIds(matching(history, filter)),
    );
  });
});

describe('a request is found by its id', () => {
  test('in whichever of 250 licenses it is, and in no other', async () => {
    const licenseIds = Array.from({ length: 250 }, () => newId('license'));
    const [foreign] = await store(newId('license'), [usual]);
    for (const i of [0, 99, 100, 101, 199, 200, 249]) {
      const [generation] = await store(licenseIds[i]!, [usual]);
      expect(await generations.find(licenseIds, generation!.requestId)).toEqual(generation);
      expect(await generations.find(licenseIds.toSpliced(i, 1), generation!.requestId)).toBeNull();
    }
    expect(await generations.find(licenseIds, foreign!.requestId)).toBeNull();
    expect(await generations.find([], foreign!.requestId)).toBeNull();
  });
});
