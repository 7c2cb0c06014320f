import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { newId, newRequestId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { grant, issueKey } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { type ApiCall } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { identities, newAccount, service, table, type Account } from './fixture.ts';

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

const prompt = `a secret of the owner's ${randomUUID()}`;
const idempotencyKey = randomUUID();

const ofLicense = (call: Naming['call']): Naming => ({ kind: 'license', call });
const ofKey = (call: Naming['call']): Naming => ({ kind: 'key', call });
const ofGeneration = (call: Naming['call']): Naming => ({ kind: 'generation', call });
const byQuery = (path: string) => ofLicense((id) => ({ path: `${path}licenseId=${id}` }));
const playground = (licenseId: string, headers: Record<string, string> = {}) => ({
  path: '/playground/generate',
  body: { ...small, prompt, licenseId, identityId: identities.aurora },
  headers,
});

/** Every session route, with each way in which it can be asked for something of somebody's; none for lists. */
const namings: Record<SessionRoute, Naming[]> = {
  listLicenses: [],
  listKeys: [],
  // They name nothing: an account has its own settings only.
  getAccount: [],
  updateAccount: [],
  listActivity: [ofLicense((id) => ({ path: `/licenses/${id}/activity` }))],
  listRefusals: [ofLicense((id) => ({ path: `/licenses/${id}/refusals` }))],
  listRefusedRequests: [ofLicense((id) => ({ path: `/licenses/${id}/refused-requests` }))],
  getUsage: [byQuery('/usage?')],
  listGenerations: [byQuery('/generate?'), byQuery('/generate?limit=1&status=COMPLETED&')],
  listIdentities: [byQuery('/identities?')],
  getIdentity: [byQuery(`/identities/${identities.aurora}?`)],
  getGeneration: [ofGeneration((id) => ({ path: `/generate/${id}` }))],
  cancelGeneration: [ofGeneration((id) => ({ method: 'POST', path: `/generate/${id}/cancel` }))],
  // The last of what names a request: it is not found any more after it.
  deleteGeneration: [ofGeneration((id) => ({ method: 'DELETE', path: `/generate/${id}` }))],
  createKey: [ofLicense((licenseId) => ({ path: '/keys', body: { licenseId, name: 'mine' } }))],
  createUpload: [ofLicense((licenseId) => ({ path: '/uploads', body: { licenseId } }))],
  updateKey: [ofKey((id) => ({ method: 'PATCH', path: `/keys/${id}`, body: { name: 'mine' } }))],
  revokeKey: [ofKey((id) => ({ method: 'DELETE', path: `/keys/${id}` }))],
  createPlaygroundGeneration: [
    ofLicense((id) => playground(id)),
    ofLicense((id) => playground(id, { 'idempotency-key': idempotencyKey })),
    ofLicense((id) => playground(id, { accept: 'text/event-stream' })),
  ],
};
const named = Object.entries(namings) as [SessionRoute, Naming[]][];
const eachNaming = named.flatMap(([name, list]) =>
  list.map((naming, i) => ({ name, way: i + 1, ...naming })),
);

const missing: Record<Kind, [id: () => string, code: string]> = {
  license: [() => newId('license'), 'LICENSE_NOT_FOUND'],
  key: [() => `key_${randomUUID().replaceAll('-', '')}`, 'KEY_NOT_FOUND'],
  generation: [() => newRequestId(Date.now()), 'REQUEST_NOT_FOUND'],
};

let owner: Account;
/** What is the owner's, in every state that an answer might show. */
let owned: Record<Kind, string[]>;

beforeAll(async () => {
  owner = await newAccount();
  const { ownerId } = owner.license;
  const { drift, aurora } = identities as Record<'drift' | 'aurora', string>;
  const nowMs = Date.now();
  const [ended, pastDue, revoked, expired] = await Promise.all([
    grant(table, { ownerId, status: 'ended', activeUntilMs: nowMs - 1 }),
    grant(table, { ownerId, status: 'past_due', identityIds: [drift] }),
    issueKey(table, owner.license, { revokedAtMs: nowMs }),
    issueKey(table, owner.license, { expiresAtMs: nowMs - 1 }),
  ]);
  const special = await grant(table, { ownerId, foundingCatalog: false, identityIds: [drift] });
  const made = await owner.generate({ prompt });
  const played = await owner.play({ prompt }, { 'idempotency-key': idempotencyKey });
  expect([made.status, played.status]).toEqual([200, 200]);
  const held = await reserveAbandoned(table, owner.license, { identityId: aurora, prompt });
  owned = {
    license: [owner, ended, pastDue, special].map(({ license }) => license.licenseId),
    key: [owner, revoked, expired].map(({ keyId }) => keyId),
    generation: [made.body.requestId, played.body.requestId, held.requestId],
  };
});

/** Everything that is received, but for what differs from one request to the next. */
async function receive(token: string, { method, path, body, headers }: Omit<ApiCall, 'key'>) {
  const answer = await fetch(service.ready.baseUrl + path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { authorization: `Bearer ${token}`, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const alike = [...answer.headers].map(([name, value]) => {
    if (name === 'x-request-id' || name === 'date') return [name, ''];
    return [name, name === 'ratelimit' ? value.replaceAll(/=\d+/g, '=n') : value];
  });
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  return { status: answer.status, headers: alike, text };
}

/** Every item of the table about the owner. Other files' tests write other items meanwhile. */
const ownersItems = () => itemsWith(table, [owner.license.ownerId, ...owned.license, ...owned.key]);

describe("what is another account's", () => {
  let stranger: Account;

  beforeAll(async () => {
    stranger = await newAccount();
  });

  test.each(eachNaming)(
    'is answered as if it were not there, byte for byte: $name, way $way',
    async ({ kind, call }) => {
      const { session } = await newAccount();
      const [newMissing, code] = missing[kind];
      const absent = await receive(session, call(newMissing()));
      expect([absent.status, JSON.parse(absent.text).code]).toEqual([404, code]);
      for (const id of [...owned[kind], newMissing()])
        expect(await receive(session, call(id))).toEqual(absent);
    },
  );

  test('is not touched by asking for it: no record, no credit and no key changes', async () => {
    const askers = await Promise.all(eachNaming.map(() => newAccount()));
    const itemsBefore = await ownersItems();
    for (const [i, { kind, call }] of eachNaming.entries())
      for (const id of owned[kind]) expect((await receive(askers[i]!.session, call(id))).status).toBe(404);
    expect(await ownersItems()).toEqual(itemsBefore);
  });

  test('appears in no list, neither by session nor by key', async () => {
    const foreign = [...Object.values(owned).flat(), owner.license.ownerId, prompt, identities.drift!];
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
    const first = await owner.bySession(`/generate?limit=1&licenseId=${licenseId}`);
    const cursor: string = first.body.nextCursor;
    expect(cursor).toMatch(/\S/);
    const theirs = stranger.license.licenseId;
    const answer = await stranger.bySession(`/generate?cursor=${cursor}&licenseId=${theirs}`);
    expect(answer.body).toEqual({ generations: [], nextCursor: null, searchedBackTo: null });
    const { nextCursor } = (await owner.bySession('/keys?limit=1')).body;
    const { keys } = (await stranger.bySession(`/keys?cursor=${nextCursor}`)).body;
    for (const key of keys) expect(key.licenseId).toBe(theirs);
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

test('this file asks each session route for something by its id, if it takes one', async () => {
  const { bySession, license } = await newAccount();
  for (const [name, { method, path, auth }] of Object.entries(routes as Record<string, Route>)) {
    if ((auth !== 'session' && auth !== 'key_or_session') || namings[name as SessionRoute].length > 0)
      continue;
    expect([name, path]).toEqual([name, expect.not.stringContaining('{')]);
    const body = method === 'PATCH' ? { body: {} } : {};
    const answer = await bySession(`${path}?licenseId=${license.licenseId}`, { method, ...body });
    expect([name, answer.body.code]).toEqual([name, 'INVALID_PARAMETERS']);
  }
});
