import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newApiKey } from '../../shared/domain/api-key.ts';
import type { Table } from '../../shared/store/table.ts';
import { grant, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;
let identities: Record<string, string>;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
  identities = service.ready.identities;
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const generate = (key: string | undefined, body: unknown, headers = {}) =>
  service.api({ path: '/generate', method: 'POST', key, body, headers });

function expectError(answer: ApiAnswer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code }).toEqual({ status, code });
  expect(Object.keys(answer.body).sort()).toEqual(['code', 'error']);
  expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
}

describe('rule by rule, POST /generate', () => {
  test('answers 200 with outputs, usage and seed for a valid request', async () => {
    const { key, license } = await grant(table, { tier: 'starter', creditsLimit: 500 });
    const answer = await generate(key, { identityId: identities.aurora, prompt: 'a lake', seed: 7 });
    expect(answer.status).toBe(200);
    const { outputs, processingTimeMs, requestId, usage, ...rest } = answer.body;
    expect(rest).toEqual({
      identity: { id: identities.aurora, name: 'aurora' },
      referenceImagesUsed: 0,
      seed: 7,
    });
    expect(outputs).toHaveLength(1);
    expect(requestId).toBe(answer.headers.get('x-request-id'));
    expect(Number.isInteger(processingTimeMs)).toBe(true);
    const { periodResetDate, ...credits } = usage;
    expect(credits).toEqual({ creditsUsed: 1, creditsLimit: 500, creditsRemaining: 499, creditsCharged: 1 });
    expect(new Date(periodResetDate).toISOString()).toBe(periodResetDate);
    expect(Date.parse(periodResetDate)).toBeGreaterThan(license.periodAnchorMs);
  });

  const refused = {
    'no key': () => undefined,
    'a text that is no key': () => 'nonsense',
    'a key that was never made': () => newApiKey(),
    'a key with a wrong checksum': () =>
      `${service.ready.keys.pro!.slice(0, -1)}${service.ready.keys.pro!.endsWith('0') ? '1' : '0'}`,
    'an expired key': () => service.ready.keys.expired,
    'a revoked key': () => service.ready.keys.revoked,
    'a key of an ended license': () => service.ready.keys.ended,
  };
  for (const [what, key] of Object.entries(refused)) {
    test(`1: ${what} is INVALID_API_KEY`, async () => {
      expectError(
        await generate(key(), { identityId: identities.aurora, prompt: 'x' }),
        401,
        'INVALID_API_KEY',
      );
    });
  }

  test('1: every reason for refusing a key reads alike', async () => {
    const answers = await Promise.all(Object.values(refused).map((key) => generate(key(), {})));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  test('1: a key of a suspended license, of one without API access and of one that ran out is refused', async () => {
    for (const change of [
      { status: 'past_due' },
      { apiAccess: false },
      { activeUntilMs: Date.now() - 1 },
    ] as const) {
      const { key } = await grant(table, change);
      expectError(await generate(key, {}), 401, 'INVALID_API_KEY');
    }
  });

  test.each(['', '{', 'nonsense', '[]', '[{"identityId":"x"}]', '"text"', '12', 'null', 'true', '\ufeff{}'])(
    '2: the body %j is INVALID_BODY',
    async (body) => {
      const { key } = await grant(table);
      expectError(await generate(key, body), 400, 'INVALID_BODY');
    },
  );

  test('2: the body is parsed whatever its Content-Type says', async () => {
    const { key } = await grant(table);
    const answer = await generate(key, { prompt: 'x' }, { 'content-type': 'text/plain' });
    expectError(answer, 400, 'MISSING_IDENTITY');
  });

  test.each([{}, { identityId: null }, { identityId: '' }])('3: %j is MISSING_IDENTITY', async (body) => {
    const { key } = await grant(table);
    expectError(await generate(key, { ...body, prompt: 'x' }), 400, 'MISSING_IDENTITY');
  });

  test.each(['idn_00000000000000000000', 'aurora', 'IDENTITY#x', '#', 'x'.repeat(5000), 42, {}, [], true])(
    '4: identityId %j is IDENTITY_NOT_FOUND',
    async (identityId) => {
      const { key } = await grant(table);
      expectError(await generate(key, { identityId, prompt: 'x' }), 404, 'IDENTITY_NOT_FOUND');
    },
  );

  test('5: a core plan may not use a specialist identity, and a specialist record no founding one', async () => {
    const core = await grant(table);
    const special = await grant(table, { foundingCatalog: false, identityIds: [identities.drift!] });
    expectError(
      await generate(core.key, { identityId: identities.drift, prompt: 'x' }),
      401,
      'IDENTITY_MISMATCH',
    );
    expectError(
      await generate(special.key, { identityId: identities.aurora, prompt: 'x' }),
      401,
      'IDENTITY_MISMATCH',
    );
    expect((await generate(special.key, { identityId: identities.drift, prompt: 'x' })).status).toBe(200);
  });

  test('5: a record may have the founding catalog and a specialist identity', async () => {
    const { key } = await grant(table, { identityIds: [identities.drift!] });
    expect((await generate(key, { identityId: identities.drift, prompt: 'x' })).status).toBe(200);
    expect((await generate(key, { identityId: identities.aurora, prompt: 'x' })).status).toBe(200);
  });

  test('6: every field that is wrong is named in one INVALID_PARAMETERS', async () => {
    const { key } = await grant(table);
    const wrong = {
      prompt: 5,
      numInferenceSteps: '30',
      width: 513,
      referenceMode: 'x',
      preserveBranding: 1,
      stpes: 3,
    };
    const answer = await generate(key, { identityId: identities.aurora, ...wrong });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    for (const name of Object.keys(wrong)) expect(answer.body.error).toContain(name);
  });

  test('6: an unknown query parameter is refused by name', async () => {
    const { key } = await grant(table);
    const body = { identityId: identities.aurora, prompt: 'x' };
    const answer = await service.api({ path: '/generate?seed=5', method: 'POST', key, body });
    expectError(answer, 400, 'INVALID_PARAMETERS');
    expect(answer.body.error).toContain('seed');
  });

  test('6: reference images that can’t be had are refused by name', async () => {
    const { key } = await grant(table);
    const body = { identityId: identities.citrine, prompt: 'x' };
    const url = 'https://example.test/a.png';
    const items = await generate(key, { ...body, referenceImages: [{ url }, { uploadId: 'u' }] });
    expectError(items, 400, 'INVALID_PARAMETERS');
    expect(items.body.error).toMatch(/referenceImages\[0\]\.url.*referenceImages\[1\]\.uploadId/);
    const wrong = await generate(key, { ...body, referenceImages: [{ url, uploadId: 'u' }] });
    expect(wrong.body.error).toContain('referenceImages[0] must have exactly one');
    const other = await generate(key, { ...body, identityId: identities.aurora, referenceImages: [{ url }] });
    expect(other.body.error).toContain('does not take product photos');
    const exact = await generate(key, { ...body, referenceMode: 'exact_product' });
    expect(exact.body.error).toContain('exact_product');
    for (const answer of [wrong, other, exact]) expectError(answer, 400, 'INVALID_PARAMETERS');
    const fine = await generate(key, {
      ...body,
      referenceImages: [],
      referenceMode: 'reference',
      preserveBranding: true,
    });
    expect(fine.status).toBe(200);
  });

  test('7: more than the tier allows is TIER_LIMIT naming what is too much', async () => {
    const { key } = await grant(table, { tier: 'starter', creditsLimit: 500 });
    const answer = await generate(key, {
      identityId: identities.aurora,
      prompt: 'x',
      numOutputs: 2,
      height: 1088,
    });
    expectError(answer, 400, 'TIER_LIMIT');
    expect(answer.body.error).toMatch(/numOutputs.*height/);
  });

  test('8: a request that no longer fits the month is CREDIT_LIMIT_EXCEEDED until its end', async () => {
    const { key } = await grant(table, { creditsLimit: 10, used: 9 });
    const body = { identityId: identities.aurora, prompt: 'x', width: 512, height: 512 };
    const two = await generate(key, { ...body, numOutputs: 2 });
    expectError(two, 429, 'CREDIT_LIMIT_EXCEEDED');
    const aboutAMonthSeconds = 31 * 24 * 3600;
    const retryAfter = Number(two.headers.get('retry-after'));
    expect(retryAfter).toBeGreaterThan(27 * 24 * 3600);
    expect(retryAfter).toBeLessThanOrEqual(aboutAMonthSeconds);
    const one = await generate(key, body);
    expect(one.body.usage).toMatchObject({ creditsUsed: 10, creditsRemaining: 0 });
    expectError(await generate(key, body), 429, 'CREDIT_LIMIT_EXCEEDED');
  });

  test('8: a first request that costs more than the whole month is refused too', async () => {
    const { key } = await grant(table, { creditsLimit: 3 });
    const answer = await generate(key, { identityId: identities.aurora, prompt: 'x', numOutputs: 4 });
    expectError(answer, 429, 'CREDIT_LIMIT_EXCEEDED');
  });

  test('9: an identity without a model is IDENTITY_UNAVAILABLE with Retry-After', async () => {
    const { key } = await grant(table);
    const answer = await generate(key, { identityId: identities.ember, prompt: 'x' });
    expectError(answer, 503, 'IDENTITY_UNAVAILABLE');
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
