import { beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { committedName } from '../../shared/licenses/period-store.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { expectError, uuid } from '../support/answers.ts';
import { grant, issueKey, type Granted } from '../support/grants.ts';
import { expectCharged } from '../support/period-totals.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
import { generate } from '../support/requests.ts';
import { callApi, type ApiAnswer } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const path = routes.createOpenAiImage.path;
const small = { prompt: 'a quiet test', size: '512x512', steps: 20 };
const { aurora, drift, ember, flint } = service.ready.identities;

function send(
  key: string | undefined,
  body: object,
  headers: Record<string, string> = {},
): Promise<ApiAnswer> {
  return service.api({ path, key, headers, body: { model: 'aurora', ...small, ...body } });
}

/** What holds for every error of these routes. */
function expectTheirError(answer: ApiAnswer, status: number, code: string, param: string | null): void {
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
  async function stored({ license, keyId }: Granted): Promise<string[]> {
    const items = await itemsWith(table, [license.licenseId, keyId]);
    return items.map((item) =>
      JSON.stringify(item, (name, value) => {
        if (/Ms$|^(ttl|log|version|bodyHash|sha256|keyPrefix|createdAt|runId)$/.test(name))
          return `some ${name}`;
        return value;
      })
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
    const own = await grant(table);
    const made = await generate(
      service,
      own.key,
      {
        identityId: aurora,
        seed: 7,
        numOutputs: 2,
        negativePrompt: 'fog',
        guidanceScale: 5,
        outputFormat: 'webp',
      },
      headers,
    );
    const granted = await grant(table);
    const more = {
      seed: 7,
      n: 2,
      negative_prompt: 'fog',
      guidance_scale: 5,
      output_format: 'webp',
      user: 'u',
      stream: false,
    };
    expect([made.status, (await send(granted.key, more, headers)).status]).toEqual([200, 200]);
    const items = await stored(granted);
    expect(items).toEqual(await stored(own));
    // A record, its idempotency key and its period among them.
    expect(items.filter((item) => /GEN#|ONCE#|PERIOD#/.test(item)).length).toBeGreaterThanOrEqual(3);
    await expectCharged(table, granted.license, 2);
    // The record is read as any other.
    const { body } = await service.api({ path: '/generate?limit=1', key: granted.key });
    expect(body.generations[0]).toMatchObject({ status: 'COMPLETED', identity: { slug: 'aurora' }, seed: 7 });
  });
});

// The unit tests of the format hold each form of an answer; OpenAI's own SDKs read them in test/long/openai.test.ts.
test('an answer has links and the very files behind them, in JSON and in events', async () => {
  const { key, license } = await grant(table);
  const same = { seed: 3, n: 2, output_format: 'webp' };
  // As programs ask that were written for OpenAI's present models.
  const habit = { model: 'gpt-image-1', quality: 'high', background: 'auto', moderation: 'low', user: 'u' };
  const both = await send(key, { ...same, ...habit });
  expect(both.headers.get('x-ignored-parameters')).toBe('user, quality, background, moderation');
  expect(both.headers.get('ratelimit-policy')).toBe('"generate";q=10;w=60');
  const { created, data, ...about } = both.body;
  expect(about).toEqual({
    output_format: 'webp',
    size: '512x512',
    usage: expect.objectContaining({ input_tokens_details: { text_tokens: 0, image_tokens: 0 } }),
  });
  expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(3600);
  const files: string[] = [];
  for (const { url, b64_json: file } of data) {
    files.push(Buffer.from(await (await fetch(url)).arrayBuffer()).toString('base64'));
    expect(file).toBe(files.at(-1));
  }
  // `stream` decides, and no header.
  const streamed = await send(
    key,
    { ...same, stream: true, partial_images: 2 },
    { accept: 'application/json', prefer: 'respond-async' },
  );
  expect(streamed.headers.get('content-type')).toBe('text/event-stream');
  const events = (streamed.body as unknown as string).trim().split('\n\n');
  expect(events.map((event) => JSON.parse(event.split('data: ')[1]!).b64_json)).toEqual(files);
  await expectCharged(table, license, 4);
  const requestId = streamed.headers.get('x-request-id')!;
  const record = (await generationStore(table).get(license.licenseId, requestId))!;
  // Its deadline is that of requests that somebody waits for.
  expect([record.status, record.deadlineMs - record.createdAtMs]).toEqual(['COMPLETED', 60_000]);
});

describe('a request is refused in their shape, by the names that were sent, in the order of POST /generate', () => {
  let starter: Granted;
  let narrow: Granted;
  let spent: Granted;
  beforeAll(async () => {
    starter = await grant(table, { tier: 'starter' });
    narrow = await grant(table, { foundingCatalog: false, identityIds: [drift!] });
    spent = await grant(table, { creditsLimit: 1, used: 1 });
  });

  test.each<[number, string, string | null, object, () => Granted]>([
    [400, 'MISSING_IDENTITY', 'model', { model: '', quality: 'x' }, () => starter],
    [404, 'IDENTITY_NOT_FOUND', 'model', { model: 'nobody', n: 0 }, () => starter],
    [401, 'IDENTITY_MISMATCH', 'model', { quality: 'x' }, () => narrow],
    [400, 'INVALID_PARAMETERS', 'size', { size: '500x512' }, () => starter],
    [400, 'TIER_LIMIT', 'size', { size: '1088x512' }, () => starter],
    [429, 'CREDIT_LIMIT_EXCEEDED', null, { model: ember }, () => spent],
    [503, 'IDENTITY_UNAVAILABLE', null, { model: ember }, () => starter],
    [500, 'GENERATION_FAILED', null, { model: flint }, () => starter],
  ])('%i %s about %s', async (status, code, param, body, granted) => {
    const key = await issueKey(table, granted().license);
    const answer = await send(key.key, body);
    expectTheirError(answer, status, code, param);
    await expectCharged(table, granted().license, granted() === spent ? 1 : 0);
  });

  test('400 INVALID_BODY, 401 INVALID_API_KEY and 429 RATE_LIMITED, of the limit of POST /generate itself', async () => {
    const { key, keyId } = await grant(table);
    expectTheirError(await service.api({ path, key, body: '{' }), 400, 'INVALID_BODY', null);
    expectTheirError(await send(undefined, {}), 401, 'INVALID_API_KEY', null);
    const { quota, name } = routes.createGeneration.limit;
    await rateLogStore(table).put(keyId, name, Array(quota).fill(Date.now() + 3600_000), 1);
    const refused = await send(key, {});
    expectTheirError(refused, 429, 'RATE_LIMITED', null);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expectError(await generate(service, key, { identityId: aurora }), 429, 'RATE_LIMITED');
  });

  test('a query is refused, and with it a dry run, which would be a real one', async () => {
    const { key, license } = await grant(table);
    const body = { model: 'aurora', ...small };
    for (const query of ['?dryRun=true', '?api-version=1']) {
      const answer = await service.api({ path: path + query, key, body });
      expectTheirError(answer, 400, 'INVALID_PARAMETERS', null);
    }
    await expectCharged(table, license, 0);
  });
});

describe('with an Idempotency-Key', () => {
  test('a repeat has the same images and charges nothing, and POST /generate with it is another body', async () => {
    const { key, license } = await grant(table);
    const headers = { 'idempotency-key': 'order-1' };
    const body = { response_format: 'b64_json' };
    const first = await send(key, body, headers);
    const again = await send(key, body, headers);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.headers.get('x-request-id')).toBe(first.headers.get('x-request-id'));
    expect(again.body).toEqual(first.body);
    expectError(await generate(service, key, { identityId: aurora }, headers), 422, 'IDEMPOTENCY_MISMATCH');
    expectTheirError(await send(key, {}, headers), 422, 'IDEMPOTENCY_MISMATCH', null);
    await expectCharged(table, license, 1);
  });
});

describe('models', () => {
  test('are the identities that the key may use, in their shape', async () => {
    const { key } = await grant(table, { foundingCatalog: false, identityIds: [drift!, ember!] });
    const { status, headers, body } = await service.api({ path: '/openai/v1/models', key });
    expect([status, headers.get('ratelimit-policy')]).toEqual([200, '"identities";q=60;w=60']);
    const { body: own } = await service.api({ path: '/identities', key });
    const modelOf = ({ id, name, slug }: any) => ({
      id,
      object: 'model',
      created: 0,
      owned_by: 'image-generation-service',
      name,
      slug,
    });
    expect(body).toEqual({ object: 'list', data: own.identities.map(modelOf) });
    expect(body.data).toHaveLength(2);
    for (const name of ['drift', drift]) {
      const { body: one } = await service.api({ path: `/openai/v1/models/${name}`, key });
      expect(one).toEqual(body.data.find(({ id }: any) => id === drift));
    }
    const named = await service.api({ path: '/openai/v1/models/gpt-image-1', key: (await grant(table)).key });
    expect(named.body.id).toBe(aurora);
    const unknown = await service.api({ path: '/openai/v1/models/nobody', key });
    expectTheirError(unknown, 404, 'IDENTITY_NOT_FOUND', 'model');
    const strange = await service.api({ path: '/openai/v1/models/aurora', key });
    expectTheirError(strange, 401, 'IDENTITY_MISMATCH', 'model');
    const query = await service.api({ path: '/openai/v1/models?limit=1', key });
    expectTheirError(query, 400, 'INVALID_PARAMETERS', null);
  });
});

test('an identity costs an id one read, and a slug one and the whole catalog; what was found is remembered', async () => {
  const { key } = await grant(table);
  const recorded = await startRecordedGateway(service.dataDir);
  const readsFor = async (model: string): Promise<string[]> => {
    const before = recorded.calls.length;
    const answer = await callApi(recorded.baseUrl, { path, key, body: { model, ...small, n: 0 } });
    const calls = recorded.calls.slice(before).filter(({ keys }) => /CATALOG/.test(keys.join()));
    return [answer.body.error.code, ...calls.map(({ operation }) => operation)];
  };
  expect(await readsFor(aurora!)).toEqual(['INVALID_PARAMETERS', 'GetItem']);
  expect(await readsFor(aurora!)).toEqual(['INVALID_PARAMETERS']);
  expect(await readsFor('drift')).toEqual(['IDENTITY_MISMATCH', 'GetItem', 'Query']);
  expect(await readsFor('nobody')).toEqual(['IDENTITY_NOT_FOUND', 'GetItem']);
  expect(await readsFor('no/body')).toEqual(['IDENTITY_NOT_FOUND']);
  await recorded.close();
});

test('every route of the format, and no other, refuses in their shape', async () => {
  const shapes = await Promise.all(
    (Object.values(routes) as Route[])
      .filter(({ auth }) => auth !== 'none')
      .map(async ({ method, path: pattern, apiFormat }) => {
        const { body } = await service.api({ method, path: pattern.replace(/\{\w+\}/, 'x'), key: 'nobody' });
        return [pattern, apiFormat === 'openai', typeof body.error];
      }),
  );
  expect(shapes).toEqual(
    shapes.map(([pattern, isOpenAi]) => [pattern, isOpenAi, isOpenAi ? 'object' : 'string']),
  );
  expect(shapes.filter(([, isOpenAi]) => isOpenAi)).toHaveLength(3);
  // What the gateway answers by itself is in our own.
  expectError(await service.api({ path: '/openai/v1/images/edits', key: 'x', body: {} }), 404, 'NOT_FOUND');
});
