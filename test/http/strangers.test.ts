import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accountCallerId, newId, newRequestId } from '../../shared/domain/ids.ts';
import { routes, type Route } from '../../shared/routes.ts';
import type { Table } from '../../shared/store/table.ts';
import { fixedTableOf, reserveAbandoned } from '../support/books.ts';
import { grant, issueKey, type Granted } from '../support/grants.ts';
import { generate, small } from '../support/requests.ts';
import { removeFolder, startService, type ApiCall, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

type Routes = typeof routes;
type SessionRoute = {
  [Name in keyof Routes]: Routes[Name]['auth'] extends 'session' | 'key_or_session' ? Name : never;
}[keyof Routes];

type Kind = 'license' | 'key' | 'generation';

/** A call that names something by its id. */
interface Naming {
  kind: Kind;
  call(id: string): Omit<ApiCall, 'key'>;
}

let service: RunningService;
let table: Table;
const prompt = `a secret of the owner's ${randomUUID()}`;
const onceKey = randomUUID();

const byLicense = (path: string): Naming => ({
  kind: 'license',
  call: (id) => ({ path: `${path}licenseId=${id}` }),
});
const playground = (licenseId: string, headers: Record<string, string> = {}) => ({
  path: '/playground/generate',
  body: { ...small, prompt, licenseId, identityId: service.ready.identities.aurora },
  headers,
});

/** Every session route, with each way in which it can be asked for something of somebody's; none for lists. */
const namings: Record<SessionRoute, Naming[]> = {
  listLicenses: [],
  listKeys: [],
  getUsage: [byLicense('/usage?')],
  listGenerations: [byLicense('/generate?'), byLicense('/generate?limit=1&status=COMPLETED&')],
  listIdentities: [byLicense('/identities?')],
  getGeneration: [{ kind: 'generation', call: (id) => ({ path: `/generate/${id}` }) }],
  createKey: [
    { kind: 'license', call: (licenseId) => ({ path: '/keys', body: { licenseId, name: 'mine' } }) },
  ],
  createUpload: [{ kind: 'license', call: (licenseId) => ({ path: '/uploads', body: { licenseId } }) }],
  revokeKey: [{ kind: 'key', call: (id) => ({ method: 'DELETE', path: `/keys/${id}` }) }],
  createPlaygroundGeneration: [
    { kind: 'license', call: (id) => playground(id) },
    { kind: 'license', call: (id) => playground(id, { 'idempotency-key': onceKey }) },
    { kind: 'license', call: (id) => playground(id, { accept: 'text/event-stream' }) },
  ],
};
const named = Object.entries(namings) as [SessionRoute, Naming[]][];
const eachNaming = named.flatMap(([name, list]) =>
  list.map((naming, i) => ({ name, way: i + 1, ...naming })),
);

const missing: Record<Kind, () => string> = {
  license: () => newId('license'),
  key: () => `key_${randomUUID().replaceAll('-', '')}`,
  generation: () => newRequestId(Date.now()),
};

interface Account {
  sub: string;
  token: string;
  own: Granted;
}

/** An account of a test's own, with an access record and a key. */
async function newAccount(): Promise<Account> {
  const sub = randomUUID();
  const [token, own] = await Promise.all([
    sessionOf(service.dataDir, { sub }),
    grant(table, { ownerId: sub }),
  ]);
  return { sub, token, own };
}

let owner: Account;
/** What is the owner's, in every state that might be told from another. */
let owned: Record<Kind, string[]>;

beforeAll(async () => {
  service = await startService();
  table = await fixedTableOf(service.dataDir);
  owner = await newAccount();
  const { sub: ownerId, own } = owner;
  const { drift, aurora } = service.ready.identities as Record<'drift' | 'aurora', string>;
  const nowMs = Date.now();
  const [ended, pastDue, revoked, expired] = await Promise.all([
    grant(table, { ownerId, status: 'ended', activeUntilMs: nowMs - 1 }),
    grant(table, { ownerId, status: 'past_due', identityIds: [drift] }),
    issueKey(table, own.license, { revokedAtMs: nowMs }),
    issueKey(table, own.license, { expiresAtMs: nowMs - 1 }),
  ]);
  const special = await grant(table, { ownerId, foundingCatalog: false, identityIds: [drift] });
  const made = await generate(service, own.key, { identityId: aurora, prompt });
  const played = await service.api({
    ...playground(own.license.licenseId, { 'idempotency-key': onceKey }),
    key: owner.token,
  });
  expect([made.status, played.status]).toEqual([200, 200]);
  const held = await reserveAbandoned(table, own.license, { identityId: aurora, prompt });
  owned = {
    license: [own, ended, pastDue, special].map(({ license }) => license.licenseId),
    key: [own, revoked, expired].map(({ keyId }) => keyId),
    generation: [made.body.requestId, played.body.requestId, held.requestId],
  };
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

interface Received {
  status: number;
  headers: [string, string][];
  text: string;
}

/** Everything that is received, but for what differs from one request to the next. */
async function receive(token: string, { method, path, body, headers }: ApiCall): Promise<Received> {
  const answer = await fetch(service.ready.baseUrl + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const alike = ([name, value]: [string, string]): [string, string] => {
    if (name === 'x-request-id' || name === 'date') return [name, ''];
    return [name, name === 'ratelimit' ? value.replaceAll(/=\d+/g, '=n') : value];
  };
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  return { status: answer.status, headers: [...answer.headers].map(alike), text };
}

/** Every item of the table, by its key. */
async function everyItem(): Promise<Map<string, unknown>> {
  const items = new Map<string, unknown>();
  let next: Record<string, unknown> | undefined;
  do {
    const command = new ScanCommand({
      TableName: table.name,
      ConsistentRead: true,
      ...(next && { ExclusiveStartKey: next }),
    });
    const page = await table.documents.send(command);
    for (const item of page.Items ?? []) items.set(`${item.PK} ${item.SK}`, item);
    next = page.LastEvaluatedKey;
  } while (next);
  return items;
}

const everyObject = () => readdirSync(join(service.dataDir, 'objects'), { recursive: true }).sort();

describe("what is another account's", () => {
  let stranger: Account;

  beforeAll(async () => {
    stranger = await newAccount();
  });

  test.each(eachNaming)(
    'is answered as if it were not there, byte for byte: $name, way $way',
    async ({ kind, call }) => {
      const { token } = await newAccount();
      const absent = await receive(token, call(missing[kind]()));
      const code = { license: 'LICENSE_NOT_FOUND', key: 'KEY_NOT_FOUND', generation: 'REQUEST_NOT_FOUND' }[
        kind
      ];
      expect([absent.status, JSON.parse(absent.text).code]).toEqual([404, code]);
      for (const id of [...owned[kind], missing[kind]()]) {
        expect(await receive(token, call(id))).toEqual(absent);
      }
    },
  );

  test('is not touched by asking for it: no record, no credit and no key changes', async () => {
    const askers = await Promise.all(eachNaming.map(newAccount));
    const usage = async () => {
      const path = `/usage?licenseId=${owner.own.license.licenseId}`;
      return (await service.api({ path, key: owner.token })).body.stats;
    };
    const usedBefore = await usage();
    const [itemsBefore, objectsBefore] = [await everyItem(), everyObject()];
    for (const [i, { kind, call }] of eachNaming.entries()) {
      for (const id of owned[kind]) {
        expect((await receive(askers[i]!.token, call(id))).status).toBe(404);
      }
    }
    const itemsAfter = await everyItem();
    for (const { sub } of askers) {
      for (const { limit } of Object.values(routes) as Route[]) {
        if (limit) itemsAfter.delete(`KEY#${accountCallerId(sub)} RATE#${limit.name}`);
      }
    }
    expect(itemsAfter).toEqual(itemsBefore);
    expect(everyObject()).toEqual(objectsBefore);
    expect(await usage()).toEqual(usedBefore);
    expect((await service.api({ path: '/identities', key: owner.own.key })).status).toBe(200);
  });

  test('appears in no list, neither by session nor by key', async () => {
    const { drift } = service.ready.identities;
    const foreign = [...Object.values(owned).flat(), owner.sub, prompt, drift!];
    const listsOf = async ({ token, own }: Account): Promise<string> => {
      const texts: string[] = [];
      for (const [name, list] of named) {
        const { method, path, auth } = routes[name] as Route;
        if (method !== 'GET' || path.includes('{')) continue;
        const calls = list.map(({ call }) => call(own.license.licenseId));
        for (const call of [...calls, { path }]) texts.push((await receive(token, call)).text);
        if (auth === 'key_or_session') texts.push((await receive(own.key, { path })).text);
      }
      return texts.join('\n');
    };
    const seen = await listsOf(stranger);
    expect(foreign.filter((text) => seen.includes(text))).toEqual([]);
    expect(seen).toContain(stranger.own.license.licenseId);
    // Its owner sees all of it there but the account's own id, so that the lists looked at are the right ones.
    const seenByOwner = await listsOf(owner);
    expect(foreign.filter((text) => !seenByOwner.includes(text))).toEqual([owner.sub]);
  });

  test("is not reached by a place in its owner's history", async () => {
    const { licenseId } = owner.own.license;
    const first = await service.api({ path: `/generate?limit=1&licenseId=${licenseId}`, key: owner.token });
    const cursor: string = first.body.nextCursor;
    expect(cursor).toMatch(/\S/);
    const path = `/generate?cursor=${cursor}&licenseId=${stranger.own.license.licenseId}`;
    const answer = await service.api({ path, key: stranger.token });
    expect(answer.body).toEqual({ generations: [], nextCursor: null });
  });
});

// Last, because it changes things.
test('an owner who asks for the same in the same words finds it', async () => {
  for (const { name, way, kind, call } of eachNaming) {
    for (const id of [owned[kind][0]!, owned[kind].at(-1)!]) {
      const { status, text } = await receive(owner.token, call(id));
      expect([name, way, status, text]).not.toEqual([name, way, 404, text]);
      expect([name, way, status]).not.toEqual([name, way, 429]);
    }
  }
});

describe('this file asks each session route', () => {
  const isSession = ([, { auth }]: [string, Route]) => auth === 'session' || auth === 'key_or_session';
  const sessionRoutes = Object.entries(routes as Record<string, Route>).filter(isSession);

  test('that there is', () => {
    expect(Object.keys(namings).sort()).toEqual(sessionRoutes.map(([name]) => name).sort());
  });

  test('for something by its id, if it takes one', async () => {
    const { token, own } = await newAccount();
    for (const [name, { method, path }] of sessionRoutes) {
      if (namings[name as SessionRoute].length > 0) continue;
      expect([name, method, path]).toEqual([name, 'GET', expect.not.stringContaining('{')]);
      const answer = await service.api({ path: `${path}?licenseId=${own.license.licenseId}`, key: token });
      expect([name, answer.body.code]).toEqual([name, 'INVALID_PARAMETERS']);
    }
  });
});
