import { expect, test } from '@jest/globals';
import {
  countEmptyPages,
  maxEmptyPages,
  shouldFetchNext,
} from '../../../dashboard/src/screens/history/auto-fetch.ts';
import { isFiltered, readFilters, writeFilters } from '../../../dashboard/src/screens/history/filters.ts';
import { identityChoices } from '../../../dashboard/src/screens/history/identity-choices.ts';
import { announceList, endOfList, imageCount } from '../../../dashboard/src/screens/history/list-words.ts';

const read = (query: string) => readFilters(new URLSearchParams(query));

test('filters are kept in the address and read back as they were', () => {
  const filters = { identityId: 'idn_4fR2', status: 'TIMEOUT', type: 'exact_product' } as const;
  expect(writeFilters(filters)).toBe('identity=idn_4fR2&status=TIMEOUT&type=exact_product');
  expect(read(writeFilters(filters))).toEqual(filters);
  expect(isFiltered(filters)).toBe(true);
});

test('an address without filters shows everything', () => {
  expect(read('')).toEqual({});
  expect(isFiltered(read(''))).toBe(false);
  expect(writeFilters({})).toBe('');
});

test('what can be no filter is left out, so that a mistyped address still shows a list', () => {
  expect(read('status=done&type=video&identity=a%20b&cursor=x')).toEqual({});
  expect(read(`identity=${'a'.repeat(65)}`)).toEqual({});
  expect(read('status=completed&type=REFERENCE')).toEqual({ status: 'COMPLETED', type: 'reference' });
});

test('each identity can be chosen once, by name, those of the past too', () => {
  const aurora = { id: 'idn_1', name: 'Aurora', slug: 'aurora' };
  const basalt = { id: 'idn_2', name: 'Basalt', slug: 'basalt' };
  expect(identityChoices([basalt, aurora, { ...aurora, name: 'Old name' }], undefined)).toEqual([
    { id: 'idn_1', label: 'Aurora' },
    { id: 'idn_2', label: 'Basalt' },
  ]);
});

test('identities of the same name are told apart by their slugs', () => {
  const twins = [
    { id: 'idn_1', name: 'Studio', slug: 'studio-a' },
    { id: 'idn_2', name: 'Studio', slug: 'studio-b' },
  ];
  expect(identityChoices(twins, undefined).map(({ label }) => label)).toEqual([
    'Studio (studio-a)',
    'Studio (studio-b)',
  ]);
});

test('the chosen identity is among the choices even when nothing else knows it', () => {
  expect(identityChoices([], 'idn_9')).toEqual([{ id: 'idn_9', label: 'idn_9' }]);
});

const facts = { nearEnd: true, hasMore: true, fetching: false, failed: false, emptyPages: 0 };

test('the next page is fetched by itself near the end of the list, and only there', () => {
  expect(shouldFetchNext(facts)).toBe(true);
  expect(shouldFetchNext({ ...facts, nearEnd: false })).toBe(false);
  expect(shouldFetchNext({ ...facts, hasMore: false })).toBe(false);
  expect(shouldFetchNext({ ...facts, fetching: true })).toBe(false);
});

test('a page that failed waits for its own retry', () => {
  expect(shouldFetchNext({ ...facts, failed: true })).toBe(false);
});

test('pages without a match are passed over, but not without end', () => {
  let emptyPages = 0;
  let fetched = 0;
  while (shouldFetchNext({ ...facts, emptyPages })) {
    emptyPages = countEmptyPages(emptyPages, 3, 3);
    fetched += 1;
  }
  expect(fetched).toBe(maxEmptyPages);
  expect(countEmptyPages(emptyPages, 3, 4)).toBe(0);
});

test('a screen reader is told how many requests are shown and whether there are more', () => {
  expect(announceList({ count: 24, hasMore: true, filtered: false })).toBe(
    '24 requests shown. More load as you scroll.',
  );
  expect(announceList({ count: 1, hasMore: false, filtered: true })).toBe(
    '1 matching request shown. That is all.',
  );
  expect(announceList({ count: 0, hasMore: false, filtered: true })).toBe(
    'No request matches these filters.',
  );
  expect(announceList({ count: 0, hasMore: false, filtered: false })).toBe('No requests yet.');
  expect(announceList({ count: 0, hasMore: true, filtered: true })).toBe('');
});

test('the end of the list says how much there is', () => {
  expect(endOfList(64, false)).toBe('That is all: 64 requests. Requests are kept for 90 days.');
  expect(endOfList(2, true)).toBe('That is all: 2 matches. Requests are kept for 90 days.');
  expect(endOfList(1, true)).toBe('That is the only match. Requests are kept for 90 days.');
});

test('a card counts its images only when there are several', () => {
  expect(imageCount(4)).toEqual({ shown: '4', read: '4 images' });
  expect(imageCount(1)).toBeNull();
  expect(imageCount(0)).toBeNull();
});
