import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JWK } from 'jose';
import { newSigningKey, publicKey } from '../../../local/cognito/signing-key.ts';
import { signAccessToken } from '../../../local/cognito/tokens.ts';
import { sessionVerifier, type SessionVerifier } from '../../../shared/adapters/session-verifier.ts';
import { ServiceError } from '../../../shared/errors.ts';
import { loggableError } from '../../../shared/http/log.ts';

const issuer = 'https://pool.example.test/us-east-1_pool';
const clientId = 'the-client';
const ownerId = '0f8fad5b-d9cb-469f-a165-70867728950e';

/** A pool's first key, the one that it changes to, and one that is never published. */
let first: JWK;
let second: JWK;
let unpublished: JWK;
/** Where the keys are served, and how they are answered now. */
let server: Server;
let port: number;
let answer: RequestListener;
let asked: number;
let verifier: SessionVerifier;

const serve =
  (...keys: JWK[]): RequestListener =>
  (_, res) =>
    void res.end(JSON.stringify({ keys: keys.map(publicKey) }));
/** The right ids, and nothing that a signature could be checked with. */
const serveHollow: RequestListener = (_, res) => {
  const keys = [first, second].map(({ kid }) => ({ kid, kty: 'RSA', alg: 'RS256', use: 'sig' }));
  res.end(JSON.stringify({ keys }));
};
const say =
  (status: number, text: string): RequestListener =>
  (_, res) =>
    void res.writeHead(status).end(text);
const tokenOf = (signingKey: JWK): Promise<string> =>
  signAccessToken({ issuer, clientId, signingKey, account: { sub: ownerId }, lifetimeSeconds: 60 });

async function open(): Promise<void> {
  server = createServer((req, res) => {
    asked += 1;
    answer(req, res);
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  ({ port } = server.address() as AddressInfo);
}

async function close(): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
}

beforeAll(async () => {
  [first, second, unpublished] = await Promise.all([newSigningKey(), newSigningKey(), newSigningKey()]);
});

beforeEach(async () => {
  [port, asked, answer] = [0, 0, serve(first)];
  await open();
  verifier = sessionVerifier({ issuer, clientId, jwksUrl: `http://127.0.0.1:${port}/jwks.json` });
});

afterEach(close);

/** What a verification ends with when its keys can't be had: with a fault of ours, never with a bad session. */
async function faultOf(token: string): Promise<ServiceError> {
  const ended: unknown = await verifier.verify(token).catch((error: unknown) => error);
  expect(ended).toBeInstanceOf(ServiceError);
  const fault = ended as ServiceError;
  expect({ code: fault.code, status: fault.status }).toEqual({ code: 'SERVICE_UNAVAILABLE', status: 503 });
  expect(fault.retryAfterSeconds).toBeGreaterThan(0);
  expect(fault.cause).toBeDefined();
  expect(fault.message).toMatch(/^\S.*\.$/);
  const told = JSON.stringify(loggableError(fault)) + fault.message;
  for (const part of [...token.split('.'), ownerId]) expect(told).not.toContain(part);
  return fault;
}

describe("the pool's keys", () => {
  test('are fetched once for any number of verifications, at the same time or one after another', async () => {
    const tokens = await Promise.all(Array.from({ length: 20 }, () => tokenOf(first)));
    const together = await Promise.all(tokens.map((token) => verifier.verify(token)));
    expect(new Set(together.map((account) => account?.ownerId))).toEqual(new Set([ownerId]));
    for (const token of tokens) expect(await verifier.verify(token)).toEqual({ ownerId });
    expect(asked).toBe(1);
  });

  test('are not fetched for what names no key of any pool', async () => {
    for (const text of ['', 'x', 'x.y.z', '..', 'svc_live_x', 'a'.repeat(10_000)]) {
      expect(await verifier.verify(text)).toBeNull();
    }
    expect(asked).toBe(0);
  });

  test('are fetched again when a new one signs, and the former goes on while it is published', async () => {
    const [former, present] = await Promise.all([tokenOf(first), tokenOf(second)]);
    expect(await verifier.verify(former)).toEqual({ ownerId });
    answer = serve(first, second);
    expect(await verifier.verify(present)).toEqual({ ownerId });
    expect(await verifier.verify(former)).toEqual({ ownerId });
    expect(asked).toBe(2);
  });

  test('no longer verify once they were withdrawn and others fetched', async () => {
    const former = await tokenOf(first);
    expect(await verifier.verify(former)).toEqual({ ownerId });
    answer = serve(second);
    expect(await verifier.verify(await tokenOf(second))).toEqual({ ownerId });
    expect(await verifier.verify(former)).toBeNull();
  });

  test('are not fetched for each token of an unknown key, which keeps no good one waiting', async () => {
    const [good, bad] = await Promise.all([tokenOf(first), tokenOf(unpublished)]);
    for (let i = 0; i < 10; i++) expect(await verifier.verify(bad)).toBeNull();
    expect(asked).toBe(1);
    expect(await verifier.verify(good)).toEqual({ ownerId });
    expect(asked).toBe(1);
  });
});

describe("where the pool's keys can't be had, nobody is told that their session is bad", () => {
  const faults: [string, RequestListener][] = [
    ['answers 500', say(500, 'oops')],
    ['answers 404', say(404, '{"keys":[]}')],
    ['answers a page', say(200, '<!doctype html><title>Welcome</title>')],
    ['answers nothing', say(200, '')],
    ['answers half of it', say(200, '{"keys":[{"kty":"RSA","n":"')],
    ['answers null', say(200, 'null')],
    ['answers no object', say(200, '7')],
    ['answers an object without keys', say(200, '{"message":"Forbidden"}')],
    ['answers keys that are no list', say(200, '{"keys":{}}')],
    ['answers no key at all', say(200, '{"keys":[]}')],
    ['answers a list of what is no key', say(200, '{"keys":[null]}')],
    ['answers keys without what they are made of', serveHollow],
    ['ends the connection', (req) => void req.socket.destroy()],
    [
      'ends the connection in the middle',
      (_, res) => {
        res.writeHead(200, { 'content-length': 1000 }).write('{"keys":[');
        setTimeout(() => res.destroy(), 20);
      },
    ],
  ];

  test.each(faults)('the server that %s', async (_, fault) => {
    const token = await tokenOf(first);
    answer = fault;
    await faultOf(token);
    await faultOf(token);
    answer = serve(first);
    expect(await verifier.verify(token)).toEqual({ ownerId });
  });

  test('the server that is away', async () => {
    const token = await tokenOf(first);
    await close();
    await faultOf(token);
    await open();
    expect(await verifier.verify(token)).toEqual({ ownerId });
  });

  test('the server that hangs, which everyone waits for together and not for ever', async () => {
    const token = await tokenOf(first);
    const held: unknown[] = [];
    answer = (_, res) => void held.push(res);
    await Promise.all([faultOf(token), faultOf(token), faultOf(token)]);
    expect(asked).toBe(1);
    answer = (_, res) => void res.writeHead(200).write('{"keys":[');
    await faultOf(token);
    answer = serve(first);
    expect(await verifier.verify(token)).toEqual({ ownerId });
  });

  test.each([['is away'], ...faults.map(([name]) => [name])])(
    'known keys go on, and new ones come once it is well: the server that %s',
    async (name) => {
      const [known, rotated] = await Promise.all([tokenOf(first), tokenOf(second)]);
      expect(await verifier.verify(known)).toEqual({ ownerId });
      const fault = faults.find(([of]) => of === name)?.[1];
      if (fault) answer = fault;
      else await close();
      await faultOf(rotated);
      expect(await verifier.verify(known)).toEqual({ ownerId });
      answer = serve(first, second);
      if (!fault) await open();
      expect(await verifier.verify(rotated)).toEqual({ ownerId });
    },
  );
});
