import { Agent, request } from 'node:http';
import { expect } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { grant } from './grants.ts';
import { sessionOf } from './sessions.ts';
import type { SharedService } from './use-service.ts';

export const usesAfterEach = 10;
/** Every so often a round fetches a generation instead of the identities. */
const fetchesEvery = 25;
const parallelRounds = 4;

interface Result {
  status: number;
  text: string;
}

/** What came of all rounds. */
export interface Seen {
  acceptedBefore: number;
  acceptedDuring: number;
  after: number;
  acceptedAfter: number;
  refusedOtherwise: number;
}

/** Revokes keys while they are used, again and again, and uses each after its revocation was answered. */
export async function revokeInRounds(service: SharedService, rounds: number): Promise<Seen> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const seen: Seen = {
    acceptedBefore: 0,
    acceptedDuring: 0,
    after: 0,
    acceptedAfter: 0,
    refusedOtherwise: 0,
  };
  let next = 0;
  const work = async () => {
    while (next < rounds) {
      const isFetch = next++ % fetchesEvery === 0;
      const use = isFetch ? { path: `/generate/${newRequestId(Date.now())}`, accepted: 404 } : identities;
      await round({ service, agent }, use, seen);
    }
  };
  await Promise.all(Array.from({ length: parallelRounds }, work));
  agent.destroy();
  return seen;
}

const identities = { path: '/identities', accepted: 200 };

interface World {
  service: SharedService;
  agent: Agent;
}

async function round(world: World, { path, accepted }: typeof identities, seen: Seen): Promise<void> {
  // Each of a license of its own: a key that was just revoked still takes one of its license's places.
  const { key, keyId, license } = await grant(world.service.table);
  const session = await sessionOf(world.service.dataDir, { sub: license.ownerId });
  const use = () => send(world, 'GET', path, key);
  const revoke = () => send(world, 'DELETE', `/keys/${keyId}`, session);
  const before = await use();
  if (before.status === accepted) seen.acceptedBefore += 1;
  const during = [use(), use()];
  const revocations = [revoke(), revoke(), revoke()];
  during.push(use());
  await Promise.race(revocations);
  const after = await Promise.all(Array.from({ length: usesAfterEach }, use));
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

/** Many small requests on few connections: `fetch` would take most of the time. */
function send({ service, agent }: World, method: string, path: string, credential: string): Promise<Result> {
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
