import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fingerprintApiKey, newApiKey } from '../../shared/domain/api-key.ts';
import { newRequestId } from '../../shared/domain/ids.ts';
import type { License } from '../../shared/domain/license.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, issueKey, tableOf, type Granted } from '../support/grants.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { pause } from '../support/until.ts';

let service: RunningService;
let table: Table;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  agent.destroy();
  await service.end();
  removeFolder(service.dataDir);
});

const rounds = 1000;
const parallelRounds = 4;
const usesAfter = 10;
/** GET /identities has no rate limit; every so often a round fetches a generation instead, which has one. */
const fetchesEvery = 25;

interface Result {
  status: number;
  text: string;
}

/** Many small requests on few connections: what `fetch` costs would be most of this test's time. */
function send(method: string, path: string, credential: string): Promise<Result> {
  const { hostname, port, pathname } = new URL(service.ready.baseUrl);
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${credential}` };
    const options = { agent, hostname, port, method, path: `${pathname}${path}`, headers };
    request(options, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    })
      .on('error', reject)
      .end();
  });
}

interface Owner extends Granted {
  session: string;
  revoke(keyId: string, query?: string): Promise<ApiAnswer>;
  /** What GET /keys tells of its keys. */
  list(): Promise<any[]>;
}

/** A signed-in account with a license and a key. */
async function owner(): Promise<Owner> {
  const granted = await grant(table);
  const session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
  return {
    ...granted,
    session,
    revoke: (keyId, query = '') =>
      service.api({ method: 'DELETE', path: `/keys/${keyId}${query}`, key: session }),
    list: async () => (await service.api({ path: '/keys', key: session })).body.keys,
  };
}

const useKey = (key: string) => service.api({ path: '/identities', key });

describe('DELETE /keys/{keyId}', () => {
  test('answers when the key was revoked; again, the same byte for byte', async () => {
    const { key, keyId, session, list } = await owner();
    const first = await send('DELETE', `/keys/${keyId}`, session);
    expect(first.status).toBe(200);
    const { revokedAt, ...rest } = JSON.parse(first.text);
    expect(rest).toEqual({ keyId, status: 'revoked' });
    expect(new Date(revokedAt).toISOString()).toBe(revokedAt);
    await pause(5);
    expect(await send('DELETE', `/keys/${keyId}`, session)).toEqual(first);
    expectError(await useKey(key), 401, 'INVALID_API_KEY');
    expect(await list()).toMatchObject([{ keyId, status: 'revoked', revokedAt }]);
  });

  test('is KEY_NOT_FOUND in the same words for anything but a key of the account', async () => {
    const [own, other] = await Promise.all([owner(), owner()]);
    const { key, keyId } = own;
    const unknown = fingerprintApiKey(newApiKey()).keyId;
    const ids = [unknown, key, other.key, other.keyId, keyId.toUpperCase(), `${keyId}0`, keyId.slice(0, -1)];
    const sentences = new Set<string>();
    for (const id of [...ids, 'x', '%00', '%23', `%20${keyId}`, own.license.licenseId, 'x'.repeat(5000)]) {
      const answer = await own.revoke(id);
      expectError(answer, 404, 'KEY_NOT_FOUND');
      sentences.add(answer.body.error);
    }
    expect(sentences.size).toBe(1);
    for (const raw of [key, other.key]) expectOk(await useKey(raw));
  });

  test('revokes an expired key too, and refuses an unknown query parameter by name', async () => {
    const { license, keyId: first, revoke, list } = await owner();
    await revoke(first);
    const { keyId } = await issueKey(table, license, { createdAtMs: 0, expiresAtMs: 1 });
    const statusOf = async () => (await list()).find((listed) => listed.keyId === keyId).status;
    const refused = await revoke(keyId, '?force=1');
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toContain('force');
    expect(await statusOf()).toBe('expired');
    expectOk(await revoke(keyId));
    expect(await statusOf()).toBe('revoked');
  });

  test('works for a license that has ended', async () => {
    const { license, keyId, revoke, list } = await owner();
    await licenseStore(table).update(license.licenseId, { status: 'ended' });
    expectOk(await revoke(keyId));
    expect(await list()).toMatchObject([{ keyId, status: 'revoked' }]);
  });

  test('leaves every other key of the record alone', async () => {
    const { license, keyId, revoke } = await owner();
    const other = await issueKey(table, license);
    expectOk(await revoke(keyId));
    expectOk(await useKey(other.key));
  });
});

/** What came of all rounds. */
const seen = { acceptedBefore: 0, acceptedDuring: 0, after: 0, acceptedAfter: 0, refusedOtherwise: 0 };

async function round(license: License, session: string, path: string, accepted: number): Promise<void> {
  const { key, keyId } = await issueKey(table, license);
  const use = () => send('GET', path, key);
  const revoke = () => send('DELETE', `/keys/${keyId}`, session);
  const before = await use();
  if (before.status === accepted) seen.acceptedBefore += 1;
  const during = [use(), use()];
  const revocations = [revoke(), revoke(), revoke()];
  during.push(use());
  await Promise.race(revocations);
  const after = await Promise.all(Array.from({ length: usesAfter }, use));
  for (const { status, text } of after) {
    seen.after += 1;
    if (status === accepted) seen.acceptedAfter += 1;
    else if (status !== 401 || JSON.parse(text).code !== 'INVALID_API_KEY') seen.refusedOtherwise += 1;
  }
  for (const { status } of await Promise.all(during)) {
    expect([accepted, 401]).toContain(status);
    if (status === accepted) seen.acceptedDuring += 1;
  }
  const answers = await Promise.all(revocations);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
}

test('no request that starts after a revocation was answered is accepted: 10,000 tries, none', async () => {
  const { license } = await grant(table);
  const session = await sessionOf(service.dataDir, { sub: license.ownerId });
  const startedMs = Date.now();
  let next = 0;
  const work = async () => {
    while (next < rounds) {
      const isFetch = next++ % fetchesEvery === 0;
      if (isFetch) await round(license, session, `/generate/${newRequestId(Date.now())}`, 404);
      else await round(license, session, '/identities', 200);
    }
  };
  await Promise.all(Array.from({ length: parallelRounds }, work));
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(`${seen.after} uses after a revocation, ${seen.acceptedAfter} accepted, in ${seconds} s`);
  expect(seen).toMatchObject({ after: 10_000, acceptedAfter: 0, refusedOtherwise: 0 });
  // Each key worked until then, and some of its uses met the revocation on their way.
  expect(seen.acceptedBefore).toBe(rounds);
  expect(seen.acceptedDuring).toBeGreaterThan(0);
}, 400_000);
