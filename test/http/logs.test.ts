import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { headersOf, messageOf } from '../support/agent.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type ApiCall, type RunningService } from '../support/service.ts';
import { openForger, signIn } from '../support/forged-sessions.ts';

let service: RunningService;
/** Everything that was logged, and everything that was printed after the banner. */
let log: string;
let printed: string;
/** Each request that was sent to a route: what the log must have of it. */
const sent: { route: string; status: number; requestId: string }[] = [];
const markers: string[] = [];
const strangeKeys: string[] = [];
/** What sessions are made of: tokens that were accepted and refused, and what people sign in with. */
const sessions: string[] = [];
const credentials: string[] = [];
/** A good session, sent as part of a path. */
let misplaced: string;

/** A text that occurs nowhere else, in characters that no encoding changes. */
function secret(what: string): string {
  const marker = `Secret${what}${Math.random().toString(36).slice(2)}`;
  markers.push(marker);
  return marker;
}

function strangeKey(): string {
  const key = newApiKey();
  strangeKeys.push(key);
  return key;
}

async function send(expected: number, call: ApiCall): Promise<any> {
  const answer = await service.api(call);
  expect({ call, status: answer.status }).toEqual({ call, status: expected });
  const method = call.method ?? (call.body === undefined ? 'GET' : 'POST');
  const path = call.path
    .split('?')[0]!
    .replace(/^\/generate\/.+?(\/cancel)?$/, '/generate/{requestId}$1')
    .replace(/^\/keys\/.+$/, '/keys/{keyId}')
    .replace(/^\/identities\/.+$/, '/identities/{identityId}')
    .replace(/^\/licenses\/[^/]+\//, '/licenses/{licenseId}/');
  const requestId = answer.headers.get('x-request-id')!;
  sent.push({ route: `${method} ${path}`, status: expected, requestId });
  return answer.body;
}

async function sendGenerations(): Promise<void> {
  const { keys, identities } = service.ready;
  const post = (status: number, key: string, identity: string, changes: object = {}, headers = {}) => {
    const texts = { prompt: `a ${secret('Prompt')} by night`, negativePrompt: secret('Negative') };
    const body = { ...small, ...texts, identityId: identities[identity], ...changes };
    return send(status, { path: '/generate', key: keys[key], headers, body });
  };
  const events = { accept: 'text/event-stream' };
  const once = { 'idempotency-key': secret('Once') };
  const { requestId, outputs } = await post(200, 'pro', 'aurora', { numOutputs: 2 });
  await Promise.all(outputs.map(openImage));
  await send(200, { path: `/generate/${requestId}`, key: keys.pro });
  for (const status of [200, 404])
    await send(status, { method: 'DELETE', path: `/generate/${requestId}`, key: keys.pro });
  await send(404, { method: 'POST', path: `/generate/${requestId}/cancel`, key: keys.pro });
  await post(500, 'pro', 'flint', {}, once);
  await post(200, 'pro', 'flint', {}, events);
  await post(200, 'pro', 'basalt', {}, events);
  await post(200, 'pro', 'basalt', {}, once);
  await post(422, 'pro', 'basalt', {}, once);
  await post(400, 'starter', 'aurora', { prompt: secret('Long').repeat(200) });
  await post(400, 'starter', 'aurora', { seed: secret('Seed'), [secret('Member')]: secret('Value') });
  await post(400, 'starter', 'aurora', {}, { 'idempotency-key': `two ${secret('Words')}` });
  const file = secret('File').padEnd(60, 'A');
  for (const url of [`https://a.test/${secret('Url')}`, `data:;base64,${file}`])
    await post(400, 'starter', 'citrine', { referenceImages: [{ url }] });
}

async function sendMessages(): Promise<void> {
  const { keys, identities } = service.ready;
  const post = (status: number, name: string, written: object, more: Record<string, string> = {}) => {
    const params = { name, arguments: written, _meta: { progressToken: secret('Token') } };
    const call = { method: 'tools/call', params };
    const headers = { ...headersOf(call), ...more };
    return send(status, { path: '/mcp', key: keys.pro, body: messageOf(call), headers });
  };
  const order = (identityId = identities.aurora) => ({
    ...small,
    prompt: `a ${secret('Prompt')}`,
    idempotencyKey: secret('Once'),
    identityId,
  });
  expect(await post(200, 'generate', order())).toContain('X-Amz-Signature');
  expect(await post(200, 'generate', order(identities.flint))).toContain('GENERATION_FAILED');
  await post(200, 'quote', { ...order(secret('Identity')), [secret('Member')]: secret('Value') });
  await post(200, 'get_generation', { requestId: secret('Request') });
  await post(200, secret('Tool'), {});
  await post(400, 'quote', order(), { 'mcp-name': secret('Name') });
  await post(403, 'quote', order(), { origin: `https://${secret('Origin').toLowerCase()}.test` });
  await send(400, { path: '/mcp', key: keys.pro, body: `{"method":"${secret('Broken')}` });
}

async function sendTheRest(): Promise<void> {
  const { keys, identities } = service.ready;
  const path = '/generate';
  const list = await send(200, { path: `${path}?limit=100`, key: keys.pro });
  expect(list.generations.length).toBeGreaterThan(4);
  await send(200, { path: '/identities', key: keys.pro });
  await send(200, { path: '/health' });
  const order = { ...small, prompt: secret('Prompt'), identityId: identities.aurora };
  await send(200, { path: `${path}?dryRun=true`, key: keys.standard, body: order });
  await send(400, { path: `${path}?${secret('Query')}=${secret('QueryValue')}`, key: keys.pro });
  await send(400, { path: `${path}?key=${strangeKey()}`, key: keys.pro });
  for (const body of [`{"prompt":"${secret('Broken')}`, secret('Text'), strangeKey()])
    await send(400, { path, key: keys.standard, body });
  await send(413, { path, key: keys.standard, body: secret('Large').repeat(60_000) });
  for (const key of [strangeKey(), keys.revoked, keys.expired, keys.ended, secret('Key')]) {
    await send(401, { path, key, body: { prompt: secret('Prompt') } });
    await send(401, { path: '/identities', key });
  }
  await send(401, { path: '/identities', headers: { authorization: `Basic ${strangeKey()}` } });
}

/** Signs in, wrongly first, and asks every session route with what came of it. */
async function sendSessions(): Promise<void> {
  const { ready } = service;
  const email = 'owner@example.test';
  const wrong = { [email]: { password: secret('Password') } };
  await expect(signIn({ ...ready, accounts: wrong }, email)).rejects.toThrow();
  const tokens = await signIn(ready, email);
  const { access_token: key, id_token: idToken, refresh_token: refreshToken } = tokens;
  const forger = await openForger(service.dataDir, email);
  const expired = forger.token({ claims: { exp: 1, email: secret('Email') } });
  const forged = forger.token({ key: forger.otherKey, header: { note: secret('Header') } });
  const unknown = forger.token({ header: { kid: secret('Kid') } });
  misplaced = forger.token({ claims: { jti: 'misplaced' } });
  await forger.close();
  sessions.push(key, idToken, refreshToken, expired, forged, unknown);
  for (const [known, { password }] of Object.entries(ready.accounts)) credentials.push(known, password);

  for (const { method, path, auth } of Object.values(routes) as Route[]) {
    if (auth !== 'session' && auth !== 'key_or_session') continue;
    for (const bad of [idToken, expired, forged, unknown, `${key}x`])
      await send(401, { method, path: path.replace(/\{\w+\}/, 'x'), key: bad });
  }
  const { pro } = ready.licenses;
  const body = { licenseId: pro, name: secret('KeyName') };
  const made = await send(201, { path: '/keys', key, body });
  strangeKeys.push(made.key);
  await send(400, { path: '/keys', key, body: { ...body, [secret('Member')]: 1 } });
  await send(200, { path: `/keys/${made.keyId}`, method: 'DELETE', key });
  const order = { ...small, licenseId: pro, identityId: ready.identities.aurora, prompt: secret('Prompt') };
  const { requestId } = await send(200, { path: '/playground/generate', key, body: order });
  const ofLicense = [
    `/licenses/${pro}/activity`,
    `/licenses/${pro}/refusals`,
    `/licenses/${pro}/refused-requests`,
    `/usage?licenseId=${pro}`,
  ];
  const lists = ['/licenses', '/keys', '/identities', `/generate?licenseId=${pro}`];
  for (const path of [...ofLicense, ...lists, `/generate/${requestId}`]) await send(200, { path, key });
  await send(404, { path: `/usage?licenseId=${secret('License')}`, key });
  await send(400, { path: `/identities?session=${key}`, key });
  await send(404, { path: `/generate/${misplaced}`, key });
}

beforeAll(async () => {
  service = await startService();
  await sendGenerations();
  await sendMessages();
  await sendTheRest();
  await sendSessions();
  // A fault of the store, in the middle of a request.
  const bucket = join(service.dataDir, 'objects', 'image-generation');
  rmSync(bucket, { recursive: true });
  writeFileSync(bucket, '');
  const { keys, identities } = service.ready;
  const body = { ...small, prompt: secret('Prompt'), identityId: identities.aurora };
  await send(500, { path: '/generate', key: keys.stranger, body });
  // A key in the path is a mistake that people make.
  await service.api({ path: `/generate/${strangeKey()}`, key: keys.stranger });
  await service.api({ path: `/keys/${strangeKey()}`, key: keys.stranger });
  expect(await service.end()).toBe(0);
  log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  const [, afterBanner] = service.output().split('Ctrl-C stops the service.');
  printed = afterBanner!;
});

afterAll(async () => {
  await service.end('SIGKILL');
  removeFolder(service.dataDir);
});

type Line = Record<string, unknown>;

const lines = (): Line[] =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

describe.each([
  ['the log', () => log],
  ['what is printed after the banner', () => printed],
])('%s', (_, text) => {
  test('holds no raw key, neither a good one nor one that was refused', () => {
    expect(text().length).toBeGreaterThan(1000);
    expect(text().match(/svc_live_[0-9A-Za-z]{4,}/g) ?? []).toEqual([]);
    for (const key of strangeKeys) expect(text()).not.toContain(key.slice('svc_live_'.length, -6));
  });

  test('holds nothing that callers wrote: prompts, member names, values, bodies, idempotency keys', () => {
    expect(markers.length).toBeGreaterThan(30);
    expect(markers.filter((marker) => text().includes(marker))).toEqual([]);
  });

  test('holds no session, neither a good one nor one that was refused or put into a path by mistake', () => {
    // Headers are alike; a refresh token has one part.
    const parts = sessions.flatMap((token) => token.split('.').slice(token.includes('.') ? 1 : 0));
    expect(parts).toHaveLength(11);
    expect(parts.filter((part) => text().includes(part))).toEqual([]);
    for (const part of misplaced.split('.')) expect(text()).not.toContain(part);
  });

  test('holds no e-mail address and no password', () => {
    expect(credentials).toHaveLength(6);
    expect(credentials.filter((credential) => text().includes(credential))).toEqual([]);
  });

  test('holds no link and no signature', () => {
    expect(text()).not.toMatch(/X-Amz-|https?:\/\/\S+\.png|output-\d/i);
  });
});

describe('the log', () => {
  test('has one line for each API request, with its route, its status and its id', () => {
    const requests = lines().filter(({ message }) => message === 'request');
    for (const { route, status, requestId } of sent) {
      const found = requests.filter((line) => line.requestId === requestId);
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ route, status });
    }
    expect(requests.filter(({ dryRun }) => dryRun === 'true')).toHaveLength(1);
    // The one with a key in its path is not in `sent`.
    expect(requests).toHaveLength(sent.length + 1);
    expect(new Set(requests.map(({ requestId }) => requestId)).size).toBe(requests.length);
  });

  test('measures each generation in the line of its request, and each error by its code', () => {
    const embedded = lines().filter((line) => '_aws' in line);
    const made = embedded.filter((line) => line.route === 'POST /generate' && 'CreditsSettled' in line);
    expect(made.length).toBeGreaterThan(2);
    for (const line of made)
      expect(line).toMatchObject({ service: 'local', CreditsReserved: line.CreditsSettled });
    const refused = sent.filter(({ status }) => status >= 400);
    const counted = embedded
      .filter((line) => line.Errors === 1 || line.Refusals === 1)
      .map(({ requestId }) => requestId);
    expect(refused.filter(({ requestId }) => !counted.includes(requestId))).toEqual([]);
  });
});

test('one line is printed for each API request, without its query', () => {
  const printedLines = printed.split('\n').filter((line) => /^ {2}\d{3} /.test(line));
  // One key was sent to a path that is no route: it is printed, but no function ran that could log it.
  expect(printedLines).toHaveLength(lines().filter(({ message }) => message === 'request').length + 1);
  for (const line of printedLines) expect(line).toMatch(/^ {2}\d{3} (GET|POST|PATCH|DELETE) [^?]+ \d+ ms$/);
});
