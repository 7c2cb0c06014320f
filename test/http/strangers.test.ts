import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId, newRequestId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { grant, issueKey } from '../support/grants.ts';
import { generate, small } from '../support/requests.ts';
import { type ApiCall } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { sharedService } from '../support/use-service.ts';

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

const service = sharedService();
const { table } = service;
const prompt = `a secret of the owner's ${randomUUID()}`;
const idempotencyKey = randomUUID();

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
  // They name nothing: an account has its own settings only.
  getAccount: [],
  updateAccount: [],
  listActivity: [{ kind: 'license', call: (id) => ({ path: `/licenses/${id}/activity` }) }],
  listRefusals: [{ kind: 'license', call: (id) => ({ path: `/licenses/${id}/refusals` }) }],
  getUsage: [byLicense('/usage?')],
  listGenerations: [byLicense('/generate?'), byLicense('/generate?limit=1&status=COMPLETED&')],
  listIdentities: [byLicense('/identities?')],
  getGeneration: [{ kind: 'generation', call: (id) => ({ path: `/generate/${id}` }) }],
  deleteGeneration: [{ kind: 'generation', call: (id) => ({ method: 'DELETE', path: `/generate/${id}` }) }],
  createKey: [
    { kind: 'license', call: (licenseId) => ({ path: '/keys', body: { licenseId, name: 'mine' } }) },
  ],
  createUpload: [{ kind: 'license', call: (licenseId) => ({ path: '/uploads', body: { licenseId } }) }],
  updateKey: [
    { kind: 'key', call: (id) => ({ method: 'PATCH', path: `/keys/${id}`, body: { name: 'mine' } }) },
  ],
  revokeKey: [{ kind: 'key', call: (id) => ({ method: 'DELETE', path: `/keys/${id}` }) }],
  createPlaygroundGeneration: [
    { kind: 'license', call: (id) => playground(id) },
    { kind: 'license', call: (id) => playground(id, { 'idempotency-key': idempotencyKey }) },
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

let owner: Account;
/** What is the owner's, in every state that might be told from another. */
let owned: Record<Kind, string[]>;

beforeAll(async () => {
  owner = await newAccount(service);
  const { ownerId } = owner.license;
  const { drift, aurora } = service.ready.identities as Record<'drift' | 'aurora', string>;
  const nowMs = Date.now();
  const [ended, pastDue, revoked, expired] = await Promise.all([
    grant(table, { ownerId, status: 'ended', activeUntilMs: nowMs - 1 }),
    grant(table, { ownerId, status: 'past_due', identityIds: [drift] }),
    issueKey(table, owner.license, { revokedAtMs: nowMs }),
    issueKey(table, owner.license, { expiresAtMs: nowMs - 1 }),
  ]);
  const special = await grant(table, { ownerId, foundingCatalog: false, identityIds: [drift] });
  const made = await generate(service, owner.key, { identityId: aurora, prompt });
  const played = await service.api({
    ...playground(owner.license.licenseId, { 'idempotency-key': idempotencyKey }),
    key: owner.session,
  });
  expect([made.status, played.status]).toEqual([200, 200]);
  const held = await reserveAbandoned(table, owner.license, { identityId: aurora, prompt });
  owned = {
    license: [owner, ended, pastDue, special].map(({ license }) => license.licenseId),
    key: [owner, revoked, expired].map(({ keyId }) => keyId),
    generation: [made.body.requestId, played.body.requestId, held.requestId],
  };
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

/** Every item of the table that tells of the owner. Other files' tests write other items meanwhile. */
const ownersItems = () => itemsWith(table, [owner.license.ownerId, ...owned.license, ...owned.key]);

describe("what is another account's", () => {
  let stranger: Account;

  beforeAll(async () => {
    stranger = await newAccount(service);
  });

  test.each(eachNaming)(
    'is answered as if it were not there, byte for byte: $name, way $way',
    async ({ kind, call }) => {
      const { session } = await newAccount(service);
      const absent = await receive(session, call(missing[kind]()));
      const code = { license: 'LICENSE_NOT_FOUND', key: 'KEY_NOT_FOUND', generation: 'REQUEST_NOT_FOUND' }[
        kind
      ];
      expect([absent.status, JSON.parse(absent.text).code]).toEqual([404, code]);
      for (const id of [...owned[kind], missing[kind]()]) {
        expect(await receive(session, call(id))).toEqual(absent);
      }
    },
  );

  test('is not touched by asking for it: no record, no credit and no key changes', async () => {
    const askers = await Promise.all(eachNaming.map(() => newAccount(service)));
    const usage = async () => {
      const path = `/usage?licenseId=${owner.license.licenseId}`;
      return (await service.api({ path, key: owner.session })).body.stats;
    };
    const usedBefore = await usage();
    const itemsBefore = await ownersItems();
    for (const [i, { kind, call }] of eachNaming.entries()) {
      for (const id of owned[kind]) {
        expect((await receive(askers[i]!.session, call(id))).status).toBe(404);
      }
    }
    expect(await ownersItems()).toEqual(itemsBefore);
    expect(await usage()).toEqual(usedBefore);
    expect((await service.api({ path: '/identities', key: owner.key })).status).toBe(200);
  });

  test('appears in no list, neither by session nor by key', async () => {
    const { drift } = service.ready.identities;
    const foreign = [...Object.values(owned).flat(), owner.license.ownerId, prompt, drift!];
    const listsOf = async ({ session, key, license }: Account): Promise<string> => {
      const texts: string[] = [];
      for (const [name, list] of named) {
        const { method, path, auth } = routes[name] as Route;
        if (method !== 'GET' || path.includes('{')) continue;
        const calls = list.map(({ call }) => call(license.licenseId));
        for (const call of [...calls, { path }]) texts.push((await receive(session, call)).text);
        if (auth === 'key_or_session') texts.push((await receive(key, { path })).text);
      }
      return texts.join('\n');
    };
    const seen = await listsOf(stranger);
    expect(foreign.filter((text) => seen.includes(text))).toEqual([]);
    expect(seen).toContain(stranger.license.licenseId);
    // Its owner sees all of it there but the account's own id, so that the lists looked at are the right ones.
    const seenByOwner = await listsOf(owner);
    expect(foreign.filter((text) => !seenByOwner.includes(text))).toEqual([owner.license.ownerId]);
  });

  test("is not reached by a place in its owner's history, or in the list of the owner's keys", async () => {
    const { licenseId } = owner.license;
    const first = await service.api({ path: `/generate?limit=1&licenseId=${licenseId}`, key: owner.session });
    const cursor: string = first.body.nextCursor;
    expect(cursor).toMatch(/\S/);
    const path = `/generate?cursor=${cursor}&licenseId=${stranger.license.licenseId}`;
    const answer = await service.api({ path, key: stranger.session });
    expect(answer.body).toEqual({ generations: [], nextCursor: null, searchedBackTo: null });
    const { nextCursor } = (await owner.bySession('/keys?limit=1')).body;
    const { keys } = (await stranger.bySession(`/keys?cursor=${nextCursor}`)).body;
    for (const key of keys) expect(key.licenseId).toBe(stranger.license.licenseId);
  });
});

// Last, because it changes things.
test('an owner who asks for the same in the same words finds it', async () => {
  for (const { name, way, kind, call } of eachNaming) {
    for (const id of [owned[kind][0]!, owned[kind].at(-1)!]) {
      const { status, text } = await receive(owner.session, call(id));
      expect([name, way, status, text]).not.toEqual([name, way, 404, text]);
      expect([name, way, status]).not.toEqual([name, way, 429]);
    }
  }
});

describe('this file asks each session route', () => {
  const isSession = ([, { auth }]: [string, Route]) => auth === 'session' || auth === 'key_or_session';
  const sessionRoutes = Object.entries(routes as Record<string, Route>).filter(isSession);

  test('for something by its id, if it takes one', async () => {
    const { session, license } = await newAccount(service);
    for (const [name, { method, path }] of sessionRoutes) {
      if (namings[name as SessionRoute].length > 0) continue;
      expect([name, method, path]).toEqual([
        name,
        expect.stringMatching(/^(GET|PATCH)$/),
        expect.not.stringContaining('{'),
      ]);
      const body = method === 'PATCH' ? { body: {} } : {};
      const query = `?licenseId=${license.licenseId}`;
      const answer = await service.api({ method, path: path + query, key: session, ...body });
      expect([name, answer.body.code]).toEqual([name, 'INVALID_PARAMETERS']);
    }
  });
});
