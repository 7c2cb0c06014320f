import { describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { committedName } from '../../shared/licenses/period-store.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { expectError, uuid } from '../support/answers.ts';
import { maxFormBytes } from '../../shared/routes/limits.ts';
import { copiesOf } from '../support/objects.ts';
import { dataUri, samplePhoto } from '../support/uploads.ts';
import { issueKey, type Granted } from '../support/grants.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
import { callApi, type ApiAnswer } from '../support/service.ts';
import { until } from '../support/until.ts';
import { itemsWith } from '../support/table-scan.ts';
import { identities, newAccount, service, table } from './fixture.ts';

const path = routes.createOpenAiImage.path;
const small = { prompt: 'a quiet test', size: '512x512', steps: 20 };
const { aurora, drift, ember, flint } = identities;

function send(key: string | undefined, body: object, headers = {}, query = ''): Promise<ApiAnswer> {
  return service.api({ path: path + query, key, headers, body: { model: 'aurora', ...small, ...body } });
}

/** What holds for every error of these routes. */
function expectTheirError(
  answer: ApiAnswer,
  status: number,
  code: string,
  param: string | null = null,
): void {
  const { error, ...others } = answer.body;
  expect({ status: answer.status, code: error.code, param: error.param }).toEqual({ status, code, param });
  expect(others).toEqual({});
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
  expect(error.message).toMatch(/^\S.*[.!?]$/s);
  expect(error.message).not.toMatch(/identityId|Outputs|Format|Prompt|Scale|Steps|[A-Z]{3,} \/(?!models)/);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toMatch(uuid);
}

describe('what is stored', () => {
  /** Everything that the table has of a license and its key, without what differs between any two requests. */
  async function storedOf({ license, keyId }: Granted): Promise<string[]> {
    const items = await itemsWith(table, [license.licenseId, keyId]);
    // A busy machine stores an image without its preview.
    const isOwn = /Ms$|^(ttl|log|version|bodyHash|sha256|keyPrefix|createdAt|runId|previews)$/;
    return items.map((item) =>
      JSON.stringify(item, (name, value) => (isOwn.test(name) ? `some ${name}` : value))
        .replaceAll(license.licenseId, 'LICENSE')
        .replaceAll(keyId, 'KEY')
        .replaceAll(committedName(keyId).slice(0, -2), 'k#KEY')
        .replaceAll(license.ownerId, 'OWNER')
        .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'REQUEST')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
        .replaceAll(/LEASE#\d/g, 'SHARD'),
    );
  }

  test('is what POST /generate stores of the same request, to the last member', async () => {
    const headers = { 'idempotency-key': 'same' };
    const own = await newAccount();
    const ours = { numOutputs: 2, negativePrompt: 'fog', guidanceScale: 5, outputFormat: 'webp' };
    const made = await own.generate({ seed: 7, ...ours }, headers);
    const other = await newAccount();
    const theirs = { n: 2, negative_prompt: 'fog', guidance_scale: 5, output_format: 'webp' };
    const sent = await send(other.key, { seed: 7, ...theirs, user: 'u', stream: false }, headers);
    expect([made.status, sent.status]).toEqual([200, 200]);
    const items = await storedOf(other);
    expect(items).toEqual(await storedOf(own));
    // A record, its idempotency key and its period among them.
    expect(items.filter((item) => /GEN#|ONCE#|PERIOD#/.test(item)).length).toBeGreaterThanOrEqual(3);
    await other.expectCharged(2);
    expect(await other.stored(sent.headers.get('x-request-id')!)).toMatchObject({
      status: 'COMPLETED',
      seed: 7,
    });
  });
});

// The unit tests of the format hold each form of an answer; OpenAI's own SDKs read them in test/long/openai.test.ts.
test('an answer has links and the very files behind them, in JSON and in events', async () => {
  const { key, license, expectCharged } = await newAccount();
  const same = { seed: 3, n: 2, output_format: 'webp' };
  // As programs ask that were written for OpenAI's present models.
  const habit = { model: 'gpt-image-1', quality: 'high', background: 'auto', moderation: 'low', user: 'u' };
  const both = await send(key, { ...same, ...habit });
  expect(both.headers.get('x-ignored-parameters')).toBe('user, quality, background, moderation');
  expect(both.headers.get('ratelimit-policy')).toBe('"generate";q=10;w=60');
  expect(both.body).toMatchObject({ output_format: 'webp', size: '512x512' });
  const files: string[] = [];
  for (const { url, b64_json: file } of both.body.data) {
    files.push(Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64'));
    expect(file).toBe(files.at(-1));
  }
  // `stream` decides, and no header.
  const ignored = { accept: 'application/json', prefer: 'respond-async' };
  const streamed = await send(key, { ...same, stream: true, partial_images: 2 }, ignored);
  expect(streamed.headers.get('content-type')).toBe('text/event-stream');
  const events: string[] = streamed.body.trim().split('\n\n');
  expect(events.map((event) => JSON.parse(event.split('data: ')[1]!).b64_json)).toEqual(files);
  await expectCharged(4);
  const requestId = streamed.headers.get('x-request-id')!;
  const record = (await generationStore(table).get(license.licenseId, requestId))!;
  // Its deadline is that of requests that somebody waits for.
  expect([record.status, record.deadlineMs - record.createdAtMs]).toEqual(['COMPLETED', 60_000]);
});

describe('an edit', () => {
  const edits = routes.editOpenAiImage.path;
  const order = { model: 'citrine', ...small };
  const formOf = (files: [name: string, file: Buffer][], changes: object = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...order, ...changes })) form.set(name, String(value));
    for (const [name, file] of files) form.append(name, new Blob([new Uint8Array(file)]), 'photo.png');
    return form;
  };
  const edit = (key: string | undefined, body: unknown, headers = {}) =>
    service.api({ path: edits, key, body, headers });
  const asJson = (...urls: string[]) => ({ ...order, images: urls.map((url) => ({ image_url: url })) });

  test('of files in a form or of data: URIs in JSON is the same image, and the record says what was used', async () => {
    const { key, license, stored, expectCharged } = await newAccount();
    const photos = [await samplePhoto(), await samplePhoto({ color: '#204080' })];
    const more = { seed: 5, reference_mode: 'exact_product', response_format: 'b64_json' };
    const answers = [
      await edit(
        key,
        formOf(
          [
            ['image[]', photos[0]!],
            ['image[]', photos[1]!],
          ],
          more,
        ),
      ),
      await edit(key, { ...asJson(...photos.map(dataUri)), ...more, input_fidelity: 'low' }),
    ];
    const [inForm, inJson] = answers.map(({ status, body }) => [status, body.data]);
    expect(inForm).toEqual(inJson);
    expect(inForm![0]).toBe(200);
    expect(answers[1]!.headers.get('x-ignored-parameters')).toBe('input_fidelity');
    const used = { type: 'exact_product', referenceImagesUsed: 2, seed: 5 };
    for (const { headers } of answers) expect(await stored(headers.get('x-request-id')!)).toMatchObject(used);
    const streamed = await edit(key, formOf([['image', photos[0]!]], { stream: true }));
    expect(streamed.body).toMatch(/^event: image_edit.completed\ndata: .*"type":"image_edit.completed"/);
    await expectCharged(3);
    expect(copiesOf(service.dataDir, license)).toEqual([]);
  });

  test('that is sent again in another form is the same by what it says, with its Idempotency-Key', async () => {
    const { key, expectCharged } = await newAccount();
    const photo = await samplePhoto();
    const headers = { 'idempotency-key': 'edit-1' };
    const repeat = () => edit(key, formOf([['image', photo]]), headers);
    expect([(await repeat()).status, (await repeat()).headers.get('idempotent-replayed')]).toEqual([
      200,
      'true',
    ]);
    const other = await edit(key, formOf([['image', photo]], { prompt: 'another' }), headers);
    expectTheirError(other, 422, 'IDEMPOTENCY_MISMATCH');
    await expectCharged(1);
  });

  test('of the same images in another form is what a later try of a program gets, and no other', async () => {
    const { key, expectCharged } = await newAccount();
    const colors = ['#c03020', '#c03020', '#2030c0'];
    const ids: (string | null)[] = [];
    for (const [count, color] of colors.entries()) {
      const sent = formOf([['image', await samplePhoto({ color })]]);
      const answer = await edit(key, sent, { 'x-stainless-retry-count': `${count}` });
      ids.push(answer.headers.get('x-request-id'));
    }
    expect([ids[1] === ids[0], ids[2] === ids[0]]).toEqual([true, false]);
    await expectCharged(2);
  });

  test.each<[number, string, string | null, () => unknown]>([
    [400, 'INVALID_PARAMETERS', 'images', () => formOf([])],
    [400, 'INVALID_PARAMETERS', 'images', () => formOf([['image', Buffer.from('GIF89a')]])],
    [400, 'INVALID_PARAMETERS', 'images', () => asJson('http://a.example/')],
    [400, 'INVALID_PARAMETERS', 'images', () => ({ ...asJson('data:;base64,'), model: 'aurora' })],
    [
      400,
      'INVALID_PARAMETERS',
      'mask',
      () =>
        formOf([
          ['image', Buffer.from('x')],
          ['mask', Buffer.from([0x89])],
        ]),
    ],
    [413, 'PAYLOAD_TOO_LARGE', null, () => formOf([['image', Buffer.alloc(maxFormBytes)]])],
  ])('is refused with %i %s about %s', async (status, code, param, bodyOf) => {
    const { key, expectCharged } = await newAccount();
    expectTheirError(await edit(key, bodyOf()), status, code, param);
    await expectCharged(0);
  });

  test('takes 4 MiB of images, and reads nothing of them before it knows the caller', async () => {
    const { key } = await newAccount();
    const large = Buffer.concat([await samplePhoto(), Buffer.alloc(1024 * 1024)]).subarray(0, 1024 * 1024);
    const files = Array.from({ length: 4 }, (): [string, Buffer] => ['image[]', large]);
    expect((await edit(key, formOf(files))).status).toBe(200);
    const headers = { 'content-type': 'multipart/form-data' };
    expectTheirError(await edit('svc_live_x', 'no form', headers), 401, 'INVALID_API_KEY');
    expectTheirError(await edit(key, 'no form', headers), 400, 'INVALID_BODY');
  });
});

describe('a request is refused in their shape, by the names that were sent, in the order of POST /generate', () => {
  const starter = newAccount({ tier: 'starter' });
  const narrow = newAccount({ foundingCatalog: false, identityIds: [drift!] });
  const spent = newAccount({ creditsLimit: 1, used: 1 });

  test.each<[number, string, string | null, object, typeof starter]>([
    [400, 'MISSING_IDENTITY', 'model', { model: '', quality: 'x' }, starter],
    [404, 'IDENTITY_NOT_FOUND', 'model', { model: 'nobody', n: 0 }, starter],
    [401, 'IDENTITY_MISMATCH', 'model', { quality: 'x' }, narrow],
    [400, 'INVALID_PARAMETERS', 'size', { size: '500x512' }, starter],
    [400, 'TIER_LIMIT', 'size', { size: '1088x512' }, starter],
    [429, 'CREDIT_LIMIT_EXCEEDED', null, { model: ember }, spent],
    [503, 'IDENTITY_UNAVAILABLE', null, { model: ember }, starter],
    [500, 'GENERATION_FAILED', null, { model: flint }, starter],
  ])('%i %s about %s', async (status, code, param, body, account) => {
    const { license, periodTotals } = await account;
    const before = await periodTotals();
    expectTheirError(await send((await issueKey(table, license)).key, body), status, code, param);
    expect(await periodTotals()).toEqual(before);
  });

  test('400 INVALID_BODY, 401 INVALID_API_KEY, and a query, with it a dry run, which would be a real one', async () => {
    const { key, expectCharged } = await newAccount();
    expectTheirError(await service.api({ path, key, body: '{' }), 400, 'INVALID_BODY');
    expectTheirError(await send(undefined, {}), 401, 'INVALID_API_KEY');
    expectTheirError(await send(key, {}, {}, '?dryRun=true'), 400, 'INVALID_PARAMETERS');
    await expectCharged(0);
  });

  test('429 RATE_LIMITED, of the limit of POST /generate itself', async () => {
    const { key, keyId, generate } = await newAccount();
    const { quota, name } = routes.createGeneration.limit;
    await rateLogStore(table).put(keyId, name, Array(quota).fill(Date.now() + 3600_000), 0);
    const refused = await send(key, {});
    expectTheirError(refused, 429, 'RATE_LIMITED');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expectError(await generate(), 429, 'RATE_LIMITED');
  });
});

test('a repeat has the same images and charges nothing, and POST /generate with its Idempotency-Key is another body', async () => {
  const { key, generate, expectCharged } = await newAccount();
  const headers = { 'idempotency-key': 'order-1' };
  const body = { response_format: 'b64_json' };
  const [first, again] = [await send(key, body, headers), await send(key, body, headers)];
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
  expect(again.body).toEqual(first.body);
  expectError(await generate({}, headers), 422, 'IDEMPOTENCY_MISMATCH');
  expectTheirError(await send(key, {}, headers), 422, 'IDEMPOTENCY_MISMATCH');
  await expectCharged(1);
});

test('a later try of an SDK has the images of the one before; without a count, or with an Idempotency-Key, it has not', async () => {
  const { key, keyId, expectCharged } = await newAccount();
  const order = { model: 'aurora', ...small, response_format: 'url', seed: 1 };
  const tryOf = async (body: object, count: string, headers = {}) => {
    const sent = { 'x-stainless-retry-count': count, ...headers };
    const answer = await service.api({ path, key, body, headers: sent });
    return [answer.headers.get('x-request-id'), answer.headers.get('idempotent-replayed')];
  };
  const [first] = await tryOf(order, '0');
  expect(await tryOf(order, '1')).toEqual([first, 'true']);
  for (const [count, headers] of [['-1'], ['1.0'], ['1', { 'idempotency-key': 'own' }]] as const)
    expect(await tryOf(order, count, headers)).toEqual([expect.not.stringMatching(first!), null]);
  expect(await tryOf({ ...order, seed: 2 }, '1')).toEqual([expect.any(String), null]);
  const refused = { 'x-stainless-retry-count': '0' };
  const { quota, name } = routes.createOpenAiImage.limit;
  await rateLogStore(table).put(keyId, name, Array(quota).fill(Date.now()), 6);
  expectTheirError(await service.api({ path, key, body: order, headers: refused }), 429, 'RATE_LIMITED');
  // Of the first, of another order, and of the refused one; the tries that have no count, or another key, are none.
  await until('the refusal is noted', async () => (await itemsWith(table, [`TRY#${keyId}`])).length === 3);
  await expectCharged(5);
});

test('models are the identities that the key may use, in their shape', async () => {
  const { byKey } = await newAccount({ foundingCatalog: false, identityIds: [drift!, ember!] });
  const models = '/openai/v1/models';
  const { headers, body } = await byKey(models);
  expect(headers.get('ratelimit-policy')).toBe('"identities";q=60;w=60');
  const { body: own } = await byKey('/identities');
  const same = { object: 'model', created: 0, owned_by: 'image-generation-service' };
  const data = own.identities.map(({ id, name, slug }: any) => ({ id, ...same, name, slug }));
  expect(body).toEqual({ object: 'list', data });
  expect(data).toHaveLength(2);
  const ofDrift = data.find(({ slug }: any) => slug === 'drift');
  for (const name of ['drift', drift]) expect((await byKey(`${models}/${name}`)).body).toEqual(ofDrift);
  const { body: named } = await (await newAccount()).byKey(`${models}/gpt-image-1`);
  expect(named.id).toBe(aurora);
  expectTheirError(await byKey(`${models}/nobody`), 404, 'IDENTITY_NOT_FOUND', 'model');
  expectTheirError(await byKey(`${models}/aurora`), 401, 'IDENTITY_MISMATCH', 'model');
  expectTheirError(await byKey(`${models}?limit=1`), 400, 'INVALID_PARAMETERS');
});

test('an identity costs an id one read, and a slug three; what was found is remembered', async () => {
  const { key } = await newAccount();
  const recorded = await startRecordedGateway(service.dataDir);
  const readsFor = async (model: string): Promise<string[]> => {
    const before = recorded.calls.length;
    const answer = await callApi(recorded.baseUrl, { path, key, body: { model, ...small, n: 0 } });
    const calls = recorded.calls.slice(before).filter(({ keys }) => /CATALOG/.test(keys.join()));
    return [answer.body.error.code, ...calls.map(({ operation }) => operation)];
  };
  expect(await readsFor(aurora!)).toEqual(['INVALID_PARAMETERS', 'GetItem']);
  expect(await readsFor(aurora!)).toEqual(['INVALID_PARAMETERS']);
  expect(await readsFor('drift')).toEqual(['IDENTITY_MISMATCH', 'GetItem', 'GetItem', 'GetItem']);
  expect(await readsFor('drift')).toEqual(['IDENTITY_MISMATCH', 'GetItem']);
  expect(await readsFor('nobody')).toEqual(['IDENTITY_NOT_FOUND', 'GetItem', 'GetItem', 'Query']);
  expect(await readsFor('no/body')).toEqual(['IDENTITY_NOT_FOUND']);
  await recorded.close();
});

test('every route of the format, and no other, refuses in their shape', async () => {
  const asked = (Object.values(routes) as Route[]).filter(({ auth }) => auth !== 'none');
  for (const { method, path: pattern, apiFormat } of asked) {
    const { body } = await service.api({ method, path: pattern.replace(/\{\w+\}/, 'x'), key: 'nobody' });
    const shape = apiFormat === 'openai' ? 'object' : 'string';
    expect([pattern, typeof body.error]).toEqual([pattern, shape]);
  }
  expect(asked.filter(({ apiFormat }) => apiFormat === 'openai')).toHaveLength(4);
  // What the gateway answers by itself is in our own.
  expectError(
    await service.api({ path: '/openai/v1/images/variations', key: 'x', body: {} }),
    404,
    'NOT_FOUND',
  );
});
