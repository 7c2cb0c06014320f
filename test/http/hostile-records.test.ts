import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/domain/ids.ts';
import { writeCursor } from '../../shared/http/paging.ts';
import { routes } from '../../shared/routes.ts';
import { fixedTableOf } from '../support/books.ts';
import { encodedBodies, hostileBodies } from '../support/hostile-bodies.ts';
import {
  hostileCredentials,
  hostileIdempotencyKeys,
  idleHeaderRequests,
  strangeIdempotencyKeys,
} from '../support/hostile-headers.ts';
import { hostileMethods, hostilePaths, hostileQueries } from '../support/hostile-paths.ts';
import { hostileIds, hostileLicenses, hostileValues } from '../support/hostile-values.ts';
import {
  callersOf,
  isGenerating,
  marker,
  send,
  ways,
  type Caller,
  type Hostile,
} from '../support/hostile.ts';
import { startRecordedGateway, type RecordedGateway } from '../support/recorded-gateway.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

/** Each request that any of these files sends over HTTP. */
const hostile: Pick<Hostile, 'way' | 'request'>[] = [
  ...[hostileBodies, encodedBodies, hostileCredentials, hostileIdempotencyKeys, idleHeaderRequests].flat(),
  ...[hostilePaths, hostileMethods, hostileQueries, hostileValues, hostileLicenses, hostileIds].flat(),
];

/** What is taken for what it says, however odd: it is what reaches the table. */
const odd: Pick<Hostile, 'way' | 'request'>[] = ways.flatMap((way) => [
  ...(isGenerating(way)
    ? strangeIdempotencyKeys.map((key) => ({
        way,
        request: () => ({ headers: [['Idempotency-Key', key]] as [string, string][] }),
      }))
    : []),
  ...(way.route === routes.createKey ? [{ way, request: () => ({}) }] : []),
  ...(way.route === routes.getGeneration
    ? [{ way, request: () => ({ path: `/generate/${newRequestId(0)}` }) }]
    : []),
  ...(way.route === routes.listGenerations
    ? [
        {
          way,
          request: ({ licenseId }: Caller) => ({
            query: `?cursor=${writeCursor(newRequestId(0))}${way.by === 'session' ? `&licenseId=${licenseId}` : ''}`,
          }),
        },
      ]
    : []),
]);

let service: RunningService;
let recorded: RecordedGateway;
let log: string[];
let printed: string;
const statuses: number[] = [];
const callers = new Set<Caller>();

beforeAll(async () => {
  service = await startService();
  const table = await fixedTableOf(service.dataDir);
  recorded = await startRecordedGateway(service.dataDir);
  for (const { baseUrl } of [service.ready, recorded]) {
    const nextCaller = callersOf(service, table);
    const caller = async () => {
      const next = await nextCaller();
      callers.add(next);
      return next;
    };
    for (const { way, request } of hostile) {
      statuses.push((await send({ baseUrl, caller }, way, request)).status);
    }
    for (const { way, request } of odd) await send({ baseUrl, caller }, way, request);
  }
  await service.end();
  log = readFileSync(join(service.dataDir, 'service.log'), 'utf8').trimEnd().split('\n');
  printed = service.output().split('Ctrl-C stops the service.')[1]!;
}, 600_000);

afterAll(async () => {
  await recorded.close();
  await service.end('SIGKILL');
  removeFolder(service.dataDir);
});

test('every hostile request is refused, and none is anybody’s fault but its sender’s', () => {
  expect(statuses).toHaveLength(2 * hostile.length);
  expect(statuses.filter((status) => status < 400 || status >= 500)).toEqual([]);
});

describe.each([
  ['service.log', () => log],
  ['what the functions log in this process', () => recorded.lines],
])('%s', (_what, lines) => {
  test('is a line of JSON in plain ASCII for each request that reached a function', () => {
    const facts = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    const requests = facts.filter(({ message }) => message === 'request');
    expect(requests.length).toBeGreaterThan(hostile.length / 2);
    expect(lines().filter((line) => !/^\{[ -~]*\}$/.test(line))).toEqual([]);
  });

  test('tells of no fault', () => {
    const facts = lines().map((line) => JSON.parse(line) as Record<string, unknown>);
    const codes = facts.filter(({ status }) => Number(status) >= 500).map(({ code }) => code);
    expect(new Set(codes)).toEqual(new Set(['IDENTITY_UNAVAILABLE']));
    expect(facts.filter(({ level }) => level !== 'info')).toEqual([]);
  });

  test('has nothing in it that a caller wrote', () => {
    const text = lines().join('\n');
    for (const written of [marker, '__proto__', 'constructor', 'svc_live_', 'X-Amz-', 'https://', 'Bearer']) {
      expect([written, text.includes(written)]).toEqual([written, false]);
    }
    expect(text.match(/eyJ[\w-]+\.\w+/g)).toBeNull();
    expect(callers.size).toBeGreaterThan(100);
    const secrets = [...callers].flatMap(({ key, session }) => [
      key.slice(9),
      ...session.split('.').slice(1),
    ]);
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});

test('what is printed can’t act on a terminal, and holds no key', () => {
  expect(printed.length).toBeGreaterThan(10_000);
  // oxlint-disable-next-line no-control-regex -- it is control characters that are looked for.
  expect(printed.match(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u202f\u2066-\u2069\ufeff]/g)).toBeNull();
  expect(printed).not.toMatch(/svc_live_[0-9A-Za-z]{4}/);
});

const id = '[A-Za-z0-9][A-Za-z0-9_-]{0,63}';
const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const instant = '\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z';

/** By its partition and its place in it: the table of `table-keys.ts`, in its order. */
const shapes: Record<string, string> = {
  'an API key': 'KEY#key_[0-9a-f]{32} KEY',
  'a rate log': `KEY#(key_[0-9a-f]{32}|acct_${uuid}) RATE#[a-z]+`,
  'an idempotency key': `KEY#(key_[0-9a-f]{32}|acct_${uuid}) ONCE#[A-Za-z0-9_-]{43}`,
  'a license': `LICENSE#${id} LICENSE`,
  'a key roster': `LICENSE#${id} KEYS`,
  'a period': `LICENSE#${id} PERIOD#${instant}`,
  'a generation': `LICENSE#${id} GEN#${uuid}`,
  'an identity': `CATALOG IDENTITY#${id}`,
  'a history': `LICENSE#${id} GEN#`,
  'a place in a history': `LICENSE#${id} GEN#( GEN#)?${uuid}.*`,
  'the catalog': 'CATALOG IDENTITY#',
  "an account's items": `OWNER#${uuid} (KEY|LICENSE)#`,
};

describe('every key that the table was asked for', () => {
  test('has a shape that there is', () => {
    expect(recorded.askedKeys.size).toBeGreaterThan(300);
    const known = new RegExp(`^(${Object.values(shapes).join('|')})$`);
    expect([...recorded.askedKeys].filter((key) => !known.test(key))).toEqual([]);
  });

  test.each(Object.keys(shapes))('is now and then that of %s, so that the shapes were looked at', (what) => {
    const shape = new RegExp(`^${shapes[what]}$`);
    expect([...recorded.askedKeys].some((key) => shape.test(key))).toBe(true);
  });
});
