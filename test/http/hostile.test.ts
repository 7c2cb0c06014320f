import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { expectError, uuid as oneUuid } from '../support/answers.ts';
import { hostileRequests } from '../support/hostile-requests.ts';
import { callersOf, marker, send, type Hostile } from '../support/hostile.ts';
import { startRecordedGateway, type RecordedGateway } from '../support/recorded-gateway.ts';
import { callApi } from '../support/service.ts';
import { service } from './fixture.ts';

const caller = callersOf(service, service.table);
let recorded: RecordedGateway;

beforeAll(async () => void (recorded = await startRecordedGateway(service.dataDir)));
afterAll(() => recorded.close());

/** What is wrong with the answer to a request, or null. */
function mistakeIn(answer: Awaited<ReturnType<typeof send>>, hostile: Hostile): object | null {
  const { what, status, code, says = '' } = hostile;
  const { error = '' } = answer.body;
  const received = { status: answer.status, ...answer.body };
  // A HEAD has no body.
  if (what === 'HEAD') return answer.status === status ? null : received;
  if (answer.status >= 400) expectError(answer, answer.status, answer.body.code);
  // The ellipsis is the service's own.
  const isPrintable = /^[ -~…]{0,2000}$/.test(error);
  const echoes = code === 'INVALID_BODY' && error.includes(marker);
  const isAsWanted = answer.status === status && answer.body.code === code && error.includes(says);
  return isAsWanted && isPrintable && !echoes ? null : received;
}

test.each(Object.keys(hostileRequests))('%s', async (rule) => {
  const mistakes: object[] = [];
  for (const hostile of hostileRequests[rule]!) {
    const answer = await send({ baseUrl: recorded.baseUrl, caller }, hostile.way, hostile.request);
    const mistake = mistakeIn(answer, hostile);
    if (mistake !== null) mistakes.push({ of: `${hostile.way.name}: ${hostile.what}`, ...mistake });
  }
  expect(hostileRequests[rule]!.length).toBeGreaterThan(1);
  expect(mistakes).toEqual([]);
});

test('no prototype was touched by any of it', () => {
  expect(({} as Record<string, unknown>).seed).toBeUndefined();
  expect(Object.keys(Object.prototype)).toEqual([]);
});

describe('the log', () => {
  const logged = () => recorded.lines.map((line) => JSON.parse(line) as Record<string, unknown>);

  test('is a line of JSON in plain ASCII for each request that reached a function', () => {
    const requests = logged().filter(({ message }) => message === 'request');
    expect(requests.length).toBeGreaterThan(Object.values(hostileRequests).flat().length / 2);
    expect(recorded.lines.filter((line) => !/^\{[ -~]*\}$/.test(line))).toEqual([]);
  });

  test('has no fault', () => {
    const codes = logged()
      .filter(({ status }) => Number(status) >= 500)
      .map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['IDENTITY_UNAVAILABLE']));
    expect(logged().filter(({ level }) => level !== 'info')).toEqual([]);
  });
});

const id = '[A-Za-z0-9][A-Za-z0-9_-]{0,63}';
const uuid = oneUuid.source.slice(1, -1);
const instant = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z';

/** By its partition and its sort key: the table of `table-keys.ts`, in its order. */
const shapes: Record<string, string> = {
  'an API key': 'KEY#key_[0-9a-f]{32} KEY',
  'a rate log': `RATE#(key_[0-9a-f]{32}|acct_${uuid}) [a-z-]+`,
  'an idempotency record': `ONCE#(key_[0-9a-f]{32}|acct_${uuid}) [A-Za-z0-9_-]{43}`,
  'a license': `LICENSE#${id} LICENSE`,
  'the active keys of a license': `ROSTER#${id} KEYS`,
  'a period': `PERIOD#${id} ${instant}`,
  'a generation': `GEN#${id} ${uuid}`,
  'an identity': `CATALOG IDENTITY#${id}`,
  'a slug': `CATALOG SLUG#${id}`,
  'an audit entry': `AUDIT#LICENSE#${id} ${uuid}`,
  'an audit log': `AUDIT#LICENSE#${id}`,
  'a history': `GEN#${id} 00000000-0000-7000-8000-0{12}.*`,
  'a place in a history': `GEN#${id} ${uuid}.*`,
  'refusals of a day': `REFUSED#${id} \\d{4}-\\d{2}-\\d{2}#(key_[0-9a-f]{32}|playground)`,
  'a refused request': `REFUSED#${id} REQUEST#${uuid}`,
  'the catalog': 'CATALOG IDENTITY#',
  "an account's settings": `ACCOUNT#${uuid} SETTINGS`,
  "an account's items": `OWNER#${uuid} (KEY|LICENSE)#`,
};

describe('every key that the table was asked for', () => {
  beforeAll(async () => {
    // Nothing of these is read for a request that is refused.
    const { key, session } = await caller();
    await callApi(recorded.baseUrl, { path: '/identities', key });
    await callApi(recorded.baseUrl, { path: '/licenses', key: session });
  });

  test('has a shape that there is', () => {
    const known = new RegExp(`^(${Object.values(shapes).join('|')})$`);
    expect([...recorded.askedKeys].filter((key) => !known.test(key))).toEqual([]);
  });

  test.each(Object.keys(shapes))('is at least once that of %s', (what) => {
    const shape = new RegExp(`^${shapes[what]}$`);
    expect([...recorded.askedKeys].some((key) => shape.test(key))).toBe(true);
  });
});
