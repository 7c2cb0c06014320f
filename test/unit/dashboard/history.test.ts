import { expect, test } from '@jest/globals';
import {
  boundsOf,
  countFilters,
  dayOf,
  identityChoices,
  isFiltered,
  keyChoices,
  readFilters,
  toApiFilters,
  writeFilters,
} from '../../../dashboard/src/screens/history/filters.ts';
import {
  countEmptyPages,
  imageCount,
  maxEmptyPages,
  shouldFetchNext,
} from '../../../dashboard/src/screens/history/list-view.ts';
import { neighbours, sampleBody } from '../../../dashboard/src/screens/history/request-view.ts';
import { viewerWidth } from '../../../dashboard/src/lib/outputs.ts';
import {
  nothingSelected,
  selectedOf,
  toggled,
  toggledAll,
  type Selection,
} from '../../../dashboard/src/screens/history/selection.ts';
import type { StoredGeneration } from '../../../dashboard/src/lib/types.ts';
import { shorten } from '../../../dashboard/src/lib/text.ts';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { storedGeneration as generation } from '../../support/stored-generation.ts';

const read = (query: string) => readFilters(new URLSearchParams(query));

const keyId = `key_${'0a'.repeat(16)}`;

test('all filters at once are kept in the address, and what the API is asked for is without their names', () => {
  const named = { identityId: 'idn_4fR2', status: 'TIMEOUT', type: 'exact_product' } as const;
  expect(writeFilters(named)).toBe('identity=idn_4fR2&status=TIMEOUT&type=exact_product');
  const filters = { keyId, search: 'red & blue', from: '2026-11-01', to: '2026-11-10' };
  expect(read(writeFilters({ ...named, ...filters }))).toEqual({ ...named, ...filters });
  expect([countFilters(filters), isFiltered(filters)]).toEqual([3, true]);
  expect([read(''), writeFilters({}), isFiltered({})]).toEqual([{}, '', false]);
  expect(toApiFilters(filters, 0, '')).toEqual({
    keyId,
    search: 'red & blue',
    createdAfter: new Date(2026, 10, 1).toISOString(),
    createdBefore: new Date(2026, 10, 11).toISOString(),
  });
  expect(toApiFilters({ status: 'FAILED', keyId: undefined }, 0, '')).toEqual({ status: 'FAILED' });
});

test('a range by name begins with a day of the reader’s calendar, or with the billing period', () => {
  const now = new Date(2026, 2, 31, 15, 30).getTime();
  const after = (range: 'today' | '7d' | '30d') => boundsOf({ range }, now, '').createdAfter;
  expect(after('today')).toBe(new Date(2026, 2, 31).toISOString());
  expect(after('7d')).toBe(new Date(2026, 2, 25).toISOString());
  expect(after('30d')).toBe(new Date(2026, 2, 2).toISOString());
  const start = '2026-03-12T08:00:00.000Z';
  expect(boundsOf({ range: 'period' }, now, start)).toEqual({ createdAfter: start });
  expect(dayOf(new Date(2026, 0, 5).getTime())).toBe('2026-01-05');
});

test.each([
  ['range=constructor', {}],
  ['from=2026-02-30&to=2026-2-1', {}],
  ['range=7d&from=2026-02-01', { range: '7d' }],
  ['key=acct_1', {}],
  ['key=playground', { keyId: 'playground' }],
  ['search=%20%20', {}],
  [`search=${'x'.repeat(300)}`, { search: 'x'.repeat(200) }],
  ['status=done&type=video&identity=a%20b&cursor=x', {}],
  [`identity=${'a'.repeat(65)}`, {}],
  ['status=completed&type=REFERENCE', { status: 'COMPLETED', type: 'reference' }],
])('of the address ?%s the filters are %j: what is no filter is ignored', (query, filters) =>
  expect(read(query)).toEqual(filters),
);

test('keys are named with their state, those of other licenses are not offered, and the chosen one always is', () => {
  const key = {
    keyId,
    name: 'my app',
    keyPrefix: 'svc_live_3Fq8',
    status: 'active',
    licenseId: 'lic_1',
  } as const;
  const old = { ...key, keyId: 'key_2', keyPrefix: 'svc_live_9xYz', status: 'revoked' } as const;
  const other = { ...key, keyId: 'key_3', licenseId: 'lic_2' };
  const choices = keyChoices([key, old, other], 'lic_1', 'key_gone4567');
  expect(choices.map(({ label }) => label)).toEqual([
    'Playground',
    'my app (svc_live_3Fq8…)',
    'my app (svc_live_9xYz…), revoked',
    'A key that is not listed (key_gone…)',
  ]);
});

test.each([
  ['a calm\n  night', 'a calm night'],
  ['a calm night over the hills', 'a calm night…'],
  ['\u{1f600}'.repeat(17), `${'\u{1f600}'.repeat(15)}…`],
])('of the prompt %j the title is %j', (prompt, title) => expect(shorten(prompt, 16)).toBe(title));

test('each identity is listed once, by name, and by its slug where two have one name; the chosen one always is', () => {
  const aurora = { id: 'idn_1', name: 'Aurora', slug: 'aurora' };
  const basalt = { id: 'idn_2', name: 'Basalt', slug: 'basalt' };
  const numbered = ['10', '2'].map((n) => ({ id: `idn_b${n}`, name: `Basalt ${n}`, slug: `basalt-${n}` }));
  const known = [...numbered, basalt, aurora, { ...aurora, name: 'Old name' }];
  const sorted = ['Aurora', 'Basalt', 'Basalt 2', 'Basalt 10'];
  expect(identityChoices(known, undefined).map(({ label }) => label)).toEqual(sorted);
  const twins = ['a', 'b'].map((one) => ({ id: `idn_${one}`, name: 'Studio', slug: `studio-${one}` }));
  const labels = identityChoices(twins, undefined).map(({ label }) => label);
  expect(labels).toEqual(['Studio (studio-a)', 'Studio (studio-b)']);
  expect(identityChoices([], 'idn_9')).toEqual([{ id: 'idn_9', label: 'idn_9' }]);
});

const state = { nearEnd: true, hasMore: true, fetching: false, failed: false, emptyPages: 0 };

test('the next page is fetched by itself near the end of the list, but one that failed waits for its retry', () => {
  expect(shouldFetchNext(state)).toBe(true);
  for (const not of [{ nearEnd: false }, { hasMore: false }, { fetching: true }, { failed: true }])
    expect(shouldFetchNext({ ...state, ...not })).toBe(false);
});

test('pages without a match are skipped, up to a limit', () => {
  let emptyPages = 0;
  let fetched = 0;
  while (shouldFetchNext({ ...state, emptyPages })) {
    emptyPages = countEmptyPages(emptyPages, 3, 3);
    fetched += 1;
  }
  expect(fetched).toBe(maxEmptyPages);
  expect(countEmptyPages(emptyPages, 3, 4)).toBe(0);
});

test('copied code has addresses that do not exist in place of reference images, which are not kept', () => {
  const used = { ...generation, type: 'reference', referenceImagesUsed: 2 } as const;
  const { referenceImages } = createGenerationBody.parse(sampleBody(used));
  const hosts = referenceImages.map(({ url }) => new URL(url!).hostname);
  expect(hosts).toEqual(['your-site.example', 'your-site.example']);
  expect(sampleBody({ ...used, referenceImagesUsed: 0 }).referenceImages).toHaveLength(1);
  expect(sampleBody(generation)).not.toHaveProperty('referenceImages');
});

test('copied code is a body that the service accepts and reads as the stored request', () => {
  const others = { negativePrompt: 'text', outputFormat: 'jpeg', preserveBranding: true } as const;
  const exact = { type: 'exact_product', referenceMode: 'exact_product' } as const;
  for (const stored of [generation, { ...generation, ...others, ...exact }]) {
    const { referenceImages: _, ...body } = createGenerationBody.parse(sampleBody(stored));
    const { identityId, numInferenceSteps: steps, guidanceScale: cfgScale, ...same } = body;
    expect(stored).toMatchObject({ ...same, identity: { id: identityId }, steps, cfgScale });
    expect(Object.keys(body)).toHaveLength(13);
  }
});

test('the newer and the older request are those beside it in the list', () => {
  const list = [{ id: 'c' }, { id: 'b' }, { id: 'a' }];
  expect(neighbours(list, 'b')).toEqual({ newer: 'c', older: 'a', isLast: false });
  expect(neighbours(list, 'a')).toEqual({ newer: 'b', older: null, isLast: true });
  expect(neighbours(list, 'x')).toEqual({ newer: null, older: null, isLast: false });
});

const order = ['a', 'b', 'c', 'd', 'e'];

function clicks(...steps: [id: string, withShift?: boolean][]): Selection {
  return steps.reduce(
    (before, [id, withShift = false]) => toggled(before, order, id, withShift),
    nothingSelected,
  );
}

test('a click with Shift does to all between what it does to its own, upwards and downwards', () => {
  expect(clicks(['d'], ['b', true]).ids.toSorted()).toEqual(['b', 'c', 'd']);
  expect(clicks(['a'], ['e', true], ['b'], ['d', true]).ids.toSorted()).toEqual(['a', 'e']);
  // Nothing was clicked before.
  expect(clicks(['c', true]).ids).toEqual(['c']);
  // What was clicked before is deleted.
  expect(toggled({ ids: [], anchor: 'x' }, order, 'c', true).ids).toEqual(['c']);
  expect(toggled({ ids: [], anchor: 'c' }, order, 'x', true).ids).toEqual(['x']);
});

test('all are selected, or none where all are', () => {
  const all = toggledAll(clicks(['b']), order);
  expect(all.ids).toEqual(order);
  expect(toggledAll(all, order).ids).toEqual([]);
  // No range begins at a click before it.
  expect(toggled(all, order, 'c', true).ids).toEqual(['a', 'b', 'd', 'e']);
});

test('what is selected has the order of the list, without what is gone', () => {
  const list = [{ id: 'a' }, { id: 'b' }, { id: 'c' }] as StoredGeneration[];
  expect(selectedOf(list, { ids: ['c', 'gone', 'a'], anchor: null }).map(({ id }) => id)).toEqual(['a', 'c']);
});

test('an image is shown whole, never wider than it is nor higher than most of the window, and cards count several', () => {
  expect(viewerWidth({ width: 512, height: 1024 })).toBe('min(512px, 36dvh)');
  expect([imageCount(4), imageCount(1)]).toEqual([{ shown: '4', read: '4 images' }, null]);
});
