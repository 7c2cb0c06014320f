import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent, request } from 'node:http';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { RawRequest, TestStore } from './support.ts';
import { bucket, errorCode, signHeaders, startStore, unsignedPayload } from './support.ts';

let store: TestStore;
/** One connection, which every request has to share. */
let agent: Agent;
beforeEach(async () => {
  store = await startStore({ maxObjectBytes: 8 * 1024 * 1024 });
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await store.close();
});

const chunk = Buffer.alloc(1024 * 1024, 'x');
const framed = Buffer.concat([Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n')]);
const upload = (headers: Record<string, string>) => ({ method: 'PUT', path: `/${bucket}/x`, headers });
const chunkedUpload = upload({
  'transfer-encoding': 'chunked',
  'x-amz-content-sha256': 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  'x-amz-decoded-content-length': '10',
});

async function begin(
  target: RawRequest,
): Promise<{ sending: ClientRequest; answer: Promise<IncomingMessage> }> {
  const { hostname, port } = new URL(store.url);
  const headers = await signHeaders(store.url, target);
  const sending = request({ hostname, port, agent, method: target.method, path: target.path, headers });
  return { sending, answer: once(sending, 'response').then(([response]) => response as IncomingMessage) };
}

async function outcome(response: IncomingMessage) {
  let text = '';
  for await (const piece of response) text += piece;
  return { status: response.statusCode, code: errorCode(text) };
}

test('an upload cannot go on past the length that it announced', async () => {
  const { sending, answer } = await begin(chunkedUpload);
  sending.on('error', () => undefined);
  sending.write(framed);
  // The upload has not ended, nor will it.
  expect(await outcome(await answer)).toEqual({ status: 400, code: 'IncompleteBody' });
  expect(await store.files()).toEqual([]);
  sending.destroy();
});

test('whatever the refusal, the client reads it and its connection goes on to the next request', async () => {
  const length = { 'content-length': String(4 * framed.length) };
  const refused: [RawRequest, string][] = [
    [chunkedUpload, 'IncompleteBody'],
    [upload({ ...chunkedUpload.headers, 'x-amz-acl': 'private' }), 'NotImplemented'],
    [upload({ ...length, 'x-amz-content-sha256': 'f'.repeat(64) }), 'XAmzContentSHA256Mismatch'],
    [upload({ ...length, 'x-amz-content-sha256': 'nonsense' }), 'InvalidArgument'],
    [
      upload({ 'content-length': String(4 * framed.length), 'content-md5': '?' }),
      'XAmzContentSHA256Mismatch',
    ],
  ];
  const ports = new Set<number | undefined>();
  for (const [target, code] of refused) {
    const { sending, answer } = await begin(target);
    for (let count = 0; count < 4; count += 1) sending.write(framed);
    sending.end();
    const response = await answer;
    ports.add(response.socket.localPort);
    expect(await outcome(response)).toMatchObject({ code });
    const { sending: next, answer: nextAnswer } = await begin({ path: `/${bucket}?list-type=2` });
    next.end();
    expect(await outcome(await nextAnswer)).toMatchObject({ status: 200 });
  }
  expect(ports.size).toBe(1);
});

test('a reader that leaves half-way disturbs nobody', async () => {
  const put = upload({ 'content-length': String(chunk.length), 'x-amz-content-sha256': unsignedPayload });
  const { sending, answer } = await begin(put);
  sending.end(chunk);
  expect(await outcome(await answer)).toMatchObject({ status: 200 });
  const leaving = await begin({ path: put.path });
  leaving.sending.end();
  (await leaving.answer).destroy();
  const staying = await begin({ path: put.path });
  staying.sending.end();
  expect(await outcome(await staying.answer)).toMatchObject({ status: 200 });
});
