import { createServer, type Server } from 'node:http';
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { tiers } from '../../../shared/licenses/tiers.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { ServiceError, type ErrorCode } from '../../../shared/base/errors.ts';
import { openAiErrorAnswer } from '../../../shared/openai/errors.ts';
import { imagesAnswer, maxFileBytes } from '../../../shared/openai/images.ts';

const generation = {
  requestId: '01a1fe17-7ebc-7396-8df3-f13b595bdbd4',
  createdAtMs: 1_700_000_000_999,
  outputFormat: 'webp',
  width: 512,
  height: 768,
} as Generation;

/** Files by their paths. A list is answered one after another; null is a fault. */
const files = new Map<string, (Buffer | null)[]>();
let server: Server;
let asked = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    asked += 1;
    const list = files.get(request.url!)!;
    const file = list.length > 1 ? list.shift()! : list[0]!;
    if (file === null) response.writeHead(503).end();
    else response.writeHead(200, { 'content-length': file.length }).end(file);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
afterAll(() => new Promise((done) => server.close(done)));

function linkTo(...answers: (Buffer | null)[]): string {
  const path = `/${files.size}`;
  files.set(path, answers);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
}

// Around the pieces that an image is sent in.
const images = [1, 2, 3, 49_151, 49_152, 49_153, 150_001].map((bytes) => randomBytes(bytes));
const base64 = images.map((image) => image.toString('base64'));

const about = {
  output_format: 'webp',
  size: '512x768',
  usage: {
    total_tokens: 0,
    input_tokens: 0,
    output_tokens: 0,
    input_tokens_details: { text_tokens: 0, image_tokens: 0 },
  },
};

const dataOf = async ({ stream }: Awaited<ReturnType<typeof imagesAnswer>>) =>
  JSON.parse(await text(stream!)).data;

test('an answer to who names no form has both, and links alone where the images can not be read', async () => {
  const links = [linkTo(images[0]!), linkTo(images[1]!)];
  const both = links.map((url, i) => ({ url, b64_json: base64[i] }));
  expect(await dataOf(await imagesAnswer(generation, links, 'both'))).toEqual(both);
  const lost = linkTo(null);
  expect(await dataOf(await imagesAnswer(generation, [lost], 'both'))).toEqual([{ url: lost }]);
  const partly = await dataOf(await imagesAnswer(generation, [links[0]!, lost, links[1]!], 'both'));
  expect(partly).toEqual([both[0], { url: lost }, both[1]]);
});

test('an answer has the images whole, whatever their sizes', async () => {
  const links = images.map((image) => linkTo(image));
  const { status, headers, stream } = await imagesAnswer(generation, links, 'b64_json');
  expect([status, headers]).toEqual([200, { 'content-type': 'application/json' }]);
  expect(JSON.parse(await text(stream!))).toEqual({
    created: 1_700_000_000,
    data: base64.map((image) => ({ b64_json: image })),
    ...about,
  });
});

test('a stream has one event for each image', async () => {
  const links = images.map((image) => linkTo(image));
  const { stream } = await imagesAnswer(generation, links, 'events');
  const blocks = (await text(stream!)).split('\n\n');
  expect(blocks.pop()).toBe('');
  const events = blocks.map((block) => /^event: ([\w.]+)\ndata: (.*)$/.exec(block)!);
  const type = 'image_generation.completed';
  expect(events.map(([, name]) => name)).toEqual(images.map(() => type));
  const same = { type, created_at: 1_700_000_000, quality: 'auto', background: 'auto', ...about };
  expect(events.map(([, , data]) => JSON.parse(data!))).toEqual(
    base64.map((image) => ({ ...same, b64_json: image })),
  );
});

test('links are answered without being read', async () => {
  const before = asked;
  const links = [linkTo(null)];
  const { body, stream } = await imagesAnswer(generation, links, 'url');
  expect(body).toMatchObject({ data: [{ url: links[0] }] });
  expect([stream, asked]).toEqual([undefined, before]);
});

describe('images that were paid for', () => {
  test('are read again where it failed twice', async () => {
    const links = [linkTo(null, null, images[0]!), linkTo(null, null, images[1]!)];
    const data = await dataOf(await imagesAnswer(generation, links, 'b64_json'));
    expect(data).toEqual(base64.slice(0, 2).map((image) => ({ b64_json: image })));
  });

  test('and of which a later one can not be read break the answer off: no client takes it for whole', async () => {
    const { stream } = await imagesAnswer(generation, [linkTo(images[0]!), linkTo(null)], 'b64_json');
    await expect(text(stream!)).rejects.toThrow('an image could not be read');
  });

  test.each([
    ['can not be had', null],
    ['are larger than any picture of their size', Buffer.alloc(maxFileBytes(generation) + 1)],
  ])(
    'and %s are an error that names the request, before any status line, and is not to be repeated',
    async (_why, file) => {
      const refused = imagesAnswer(generation, [linkTo(file)], 'b64_json');
      const error = await refused.then(
        () => null!,
        (reason: ServiceError) => reason,
      );
      expect(error).toMatchObject({ code: 'GENERATION_FAILED', requestId: generation.requestId });
      expect(error.message).toContain('were charged');
      const { status, headers, body } = openAiErrorAnswer(error);
      // Their base address has nothing to fetch it from.
      expect(JSON.stringify(body)).toContain("from the service's own API, by the X-Request-Id");
      const once = { 'x-should-retry': 'false', 'x-request-id': generation.requestId };
      expect([status, headers]).toEqual([500, once]);
    },
  );
});

test('the largest answer of every tier fits into what Lambda streams', () => {
  for (const { maxOutputs, maxSidePx } of Object.values(tiers)) {
    const bytes = maxOutputs * maxFileBytes({ width: maxSidePx, height: maxSidePx });
    expect((bytes * 4) / 3).toBeLessThan(200e6);
  }
});

describe('an error in their shape', () => {
  test.each<[ErrorCode, string, string, string | null, boolean]>([
    ['INVALID_API_KEY', 'The API key is missing.', 'authentication_error', null, false],
    ['IDENTITY_MISMATCH', 'This license does not cover n.', 'authentication_error', 'model', false],
    ['INVALID_PARAMETERS', 'seed must be one; n must be two.', 'invalid_request_error', 'seed', false],
    ['INVALID_PARAMETERS', 'unknown member "x-y"; n must be two.', 'invalid_request_error', 'x-y', false],
    ['INVALID_PARAMETERS', 'unknown query parameter "x".', 'invalid_request_error', null, false],
    ['TIER_LIMIT', "On the Starter tier size's width must be 1.", 'invalid_request_error', 'size', false],
    ['CREDIT_LIMIT_EXCEEDED', 'This request costs 4 credits.', 'insufficient_quota', null, false],
    ['IDEMPOTENCY_IN_PROGRESS', 'It runs.', 'invalid_request_error', null, true],
    ['SERVICE_UNAVAILABLE', 'Busy.', 'server_error', null, true],
    ['IDENTITY_UNAVAILABLE', 'No model.', 'server_error', null, false],
  ])('%s: %s is a %s about %s, and an SDK repeats it: %s', (code, message, type, param, isRepeated) => {
    const { status, headers, body } = openAiErrorAnswer(new ServiceError(code, message));
    expect(status).toBe(new ServiceError(code, message).status);
    expect(headers!['x-should-retry']).toBe(String(isRepeated));
    expect(body).toEqual({ error: { message, type, param, code } });
  });

  test.each([
    [60, true],
    [61, false],
  ])(
    'of a limit is repeated by an SDK where its wait is a minute at most: %i s, %s',
    (retryAfterSeconds, isRepeated) => {
      const { headers } = openAiErrorAnswer(new ServiceError('RATE_LIMITED', 'Wait.', { retryAfterSeconds }));
      expect(headers!['x-should-retry']).toBe(String(isRepeated));
    },
  );
});
