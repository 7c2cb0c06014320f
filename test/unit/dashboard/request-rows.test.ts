import { expect, test } from '@jest/globals';
import { codesOf, readPastedId, requestRows } from '../../../dashboard/src/screens/requests/request-rows.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { storedGeneration } from '../../support/stored-generation.ts';

const startMs = Date.parse('2026-11-21T10:00:00Z');
const [oldest, older, newer, newest] = [0, 1000, 2000, 3000].map((laterMs) => ({
  requestId: newRequestId(startMs + laterMs),
  at: new Date(startMs + laterMs).toISOString(),
}));

const stored = ({ requestId, at }: { requestId: string; at: string }) => ({
  ...storedGeneration,
  id: requestId,
  createdAt: at,
});
const refused = (of: { requestId: string; at: string }) => ({
  ...of,
  route: 'POST /generate',
  keyId: null,
  keyName: null,
  status: 400,
  code: 'TIER_LIMIT',
  error: 'Too large.',
});

test('stored and refused requests are in one list by time, one of both kinds once, none where older stored ones may come between', () => {
  const lists = [[stored(newer!), stored(older!)], [newest!, newer!, oldest!].map(refused)] as const;
  const shown = (hasMore: boolean) =>
    requestRows(...lists, hasMore).map(({ requestId, status }) => [requestId, status]);
  const first = [
    [newest!.requestId, 'REFUSED'],
    [newer!.requestId, 'COMPLETED'],
    [older!.requestId, 'COMPLETED'],
  ];
  expect(shown(true)).toEqual(first);
  expect(shown(false)).toEqual([...first, [oldest!.requestId, 'REFUSED']]);
  expect(codesOf(requestRows(...lists, false), 'TIMEOUT')).toEqual(['TIER_LIMIT', 'TIMEOUT']);
});

test('a request id is found in what somebody pasted, in any case', () => {
  const id = newest!.requestId;
  expect(readPastedId(`X-Request-Id: ${id.toUpperCase()}\n`)).toBe(id);
  expect(readPastedId('019aa3c2')).toBeNull();
});
