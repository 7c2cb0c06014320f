import { createServer, type RequestListener } from 'node:http';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JWK } from 'jose';
import { newSigningKey, publicKey } from '../../../local/cognito/signing-key.ts';
import { signAccessToken } from '../../../local/cognito/tokens.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { sessionVerifier, type SessionVerifier } from '../../../shared/accounts/session-verifier.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import { loggableError } from '../../../shared/base/log.ts';

const issuer = 'https://pool.example.test/us-east-1_pool';
const clientId = 'the-client';
const ownerId = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** A pool's first key, the one that it changes to, and one that is never published. */
let first: JWK;
let second: JWK;
let unpublished: JWK;
/** The server of the keys, and what it answers now. */
let server: RunningServer;
let port: number;
let answer: RequestListener;
let asked: number;
let verifier: SessionVerifier;

const serve =
  (...keys: JWK[]): RequestListener =>
  (_, res) =>
    void res.end(JSON.stringify({ keys: keys.map(publicKey) }));
const serveIdsAlone: RequestListener = (_, res) => {
  const keys = [first, second].map(({ kid }) => ({ kid, kty: 'RSA', alg: 'RS256', use: 'sig' }));
  res.end(JSON.stringify({ keys }));
};
const breakOff: RequestListener = (_, res) =>
  void res.writeHead(200, { 'content-length': 1000 }).write('{"keys":[', () => res.destroy());
const say =
  (status: number, text: string): RequestListener =>
  (_, res) =>
    void res.writeHead(status).end(text);
const tokenOf = (signingKey: JWK): Promise<string> =>
  signAccessToken({ issuer, clientId, signingKey, account: { sub: ownerId }, lifetimeSeconds: 60 });

async function open(): Promise<void> {
  const requested = createServer((req, res) => {
    asked += 1;
    answer(req, res);
  });
  server = await listen(requested, port);
  port = Number(new URL(server.url).port);
}
const close = () => server.close();

beforeAll(async () => {
  [first, second, unpublished] = await Promise.all([newSigningKey(), newSigningKey(), newSigningKey()]);
});

beforeEach(async () => {
  [port, asked, answer] = [0, 0, serve(first)];
  await open();
  verifier = sessionVerifier({ issuer, clientId, jwksUrl: `http://127.0.0.1:${port}/jwks.json` });
});

afterEach(close);

/** The error of a verification whose keys can't be had: the service is unavailable, the session is not called bad. */
async function faultOf(token: string): Promise<ServiceError> {
  const ended: unknown = await verifier.verify(token).catch((error: unknown) => error);
  expect(ended).toBeInstanceOf(ServiceError);
  const fault = ended as ServiceError;
  expect({ code: fault.code, status: fault.status }).toEqual({ code: 'SERVICE_UNAVAILABLE', status: 503 });
  expect(fault.retryAfterSeconds).toBeGreaterThan(0);
  expect(fault.cause).toBeDefined();
  expect(fault.message).toMatch(/^\S.*\.$/);
  const words = JSON.stringify(loggableError(fault)) + fault.message;
  for (const part of [...token.split('.'), ownerId]) expect(words).not.toContain(part);
  return fault;
}

describe("the pool's keys", () => {
  test('are fetched once for any number of verifications, at the same time or one after another', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(first)));
    const together = await Promise.all(tokens.map((token) => verifier.verify(token)));
    expect(new Set(together.map((account) => account?.ownerId))).toEqual(new Set([ownerId]));
    for (const token of tokens) expect(await verifier.verify(token)).toMatchObject({ ownerId });
    expect(asked).toBe(1);
  });

  test('are not fetched for a text that is no token', async () => {
    for (const text of ['', 'x', 'x.y.z', '..', 'svc_live_x', 'a'.repeat(10_000)]) {
      expect(await verifier.verify(text)).toBeNull();
    }
    expect(asked).toBe(0);
  });

  test('are fetched again when a new one signs, and the former goes on while it is published', async () => {
    const [former, present] = await Promise.all([tokenOf(first), tokenOf(second)]);
    expect(await verifier.verify(former)).toMatchObject({ ownerId });
    answer = serve(first, second);
    expect(await verifier.verify(present)).toMatchObject({ ownerId });
    expect(await verifier.verify(former)).toMatchObject({ ownerId });
    expect(asked).toBe(2);
  });

  test('no longer verify once they are withdrawn and the new ones were fetched', async () => {
    const former = await tokenOf(first);
    expect(await verifier.verify(former)).toMatchObject({ ownerId });
    answer = serve(second);
    expect(await verifier.verify(await tokenOf(second))).toMatchObject({ ownerId });
    expect(await verifier.verify(former)).toBeNull();
  });

  test('are not fetched for each token of an unknown key, which keeps no good one waiting', async () => {
    const [good, bad] = await Promise.all([tokenOf(first), tokenOf(unpublished)]);
    for (let i = 0; i < 10; i++) expect(await verifier.verify(bad)).toBeNull();
    expect(asked).toBe(1);
    expect(await verifier.verify(good)).toMatchObject({ ownerId });
    expect(asked).toBe(1);
  });
});

describe("when the pool's keys can't be had, nobody hears that their session is bad", () => {
  test.each<[string, RequestListener | null]>([
    ['is away', null],
    ['answers 500', say(500, 'oops')],
    ['answers a page', say(200, '<!doctype html><title>Welcome</title>')],
    ['answers null', say(200, 'null')],
    ['answers an object without keys', say(200, '{"message":"Forbidden"}')],
    ['answers keys that are no list', say(200, '{"keys":{}}')],
    ['answers an empty list', say(200, '{"keys":[]}')],
    ['answers a list of null', say(200, '{"keys":[null]}')],
    ['answers the ids of keys alone', serveIdsAlone],
    ['ends the connection', (req) => void req.socket.destroy()],
    ['ends the connection in the middle', breakOff],
  ])('the server that %s: known keys go on, and others are had once it is well', async (_, fault) => {
    const [token, rotated] = await Promise.all([tokenOf(first), tokenOf(second)]);
    const fail = async () => (fault ? (answer = fault) : close());
    const recover = async (...keys: JWK[]) => {
      answer = serve(...keys);
      if (!fault) await open();
    };
    await fail();
    await faultOf(token);
    await faultOf(token);
    await recover(first);
    expect(await verifier.verify(token)).toMatchObject({ ownerId });
    await fail();
    await faultOf(rotated);
    expect(await verifier.verify(token)).toMatchObject({ ownerId });
    await recover(first, second);
    expect(await verifier.verify(rotated)).toMatchObject({ ownerId });
  });

  test('the server that hangs: everyone waits together, and not for ever', async () => {
    const token = await tokenOf(first);
    answer = () => undefined;
    await Promise.all([faultOf(token), faultOf(token), faultOf(token)]);
    expect(asked).toBe(1);
    answer = (_, res) => void res.writeHead(200).write('{"keys":[');
    await faultOf(token);
    answer = serve(first);
    expect(await verifier.verify(token)).toMatchObject({ ownerId });
  });
});
