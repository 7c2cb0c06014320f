import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { licenseStore } from '../../shared/store/license-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { expectError } from '../support/answers.ts';
import { expectCharged } from '../support/books.ts';
import { grant, issueKey, newLicense, tableOf } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

/**
 * Every limit on both sides of its edge. A request that gets past its parameters, its tier and its credits reaches an
 * identity without a model, so acceptance is told by IDENTITY_UNAVAILABLE and costs no painting.
 */
async function verdict(key: string, parameters: Record<string, unknown>): Promise<string> {
  const body = { identityId: service.ready.identities.ember, prompt: 'x', ...parameters };
  return (await service.api({ path: '/generate', key, body })).body.code;
}

const accepted = 'IDENTITY_UNAVAILABLE';
const invalid = 'INVALID_PARAMETERS';

const fields: [string, unknown, string][] = [
  ['prompt', 'x'.repeat(1000), accepted],
  ['prompt', 'x'.repeat(1001), invalid],
  ['prompt', '🙂'.repeat(1000), accepted],
  ['prompt', '🙂'.repeat(1001), invalid],
  ['prompt', 'a\u0000b', invalid],
  ['prompt', '', invalid],
  ['prompt', null, invalid],
  ['negativePrompt', 'x'.repeat(500), accepted],
  ['negativePrompt', 'x'.repeat(501), invalid],
  ['negativePrompt', '', accepted],
  ['seed', 0, accepted],
  ['seed', -1, invalid],
  ['seed', 4294967295, accepted],
  ['seed', 4294967296, invalid],
  ['seed', 0.5, invalid],
  ['seed', '5', invalid],
  ['numInferenceSteps', 20, accepted],
  ['numInferenceSteps', 19, invalid],
  ['numInferenceSteps', 50, accepted],
  ['numInferenceSteps', 51, invalid],
  ['guidanceScale', 1, accepted],
  ['guidanceScale', 0.99, invalid],
  ['guidanceScale', 20, accepted],
  ['guidanceScale', 20.01, invalid],
  ['numOutputs', 1, accepted],
  ['numOutputs', 0, invalid],
  ['numOutputs', 1.5, invalid],
  ['width', 512, accepted],
  ['width', 448, invalid],
  ['width', 513, invalid],
  ['width', 576, accepted],
  ['height', 512, accepted],
  ['height', 448, invalid],
  ['height', -512, invalid],
  ['outputFormat', 'png', accepted],
  ['outputFormat', 'webp', accepted],
  ['outputFormat', 'jpeg', accepted],
  ['outputFormat', 'jpg', invalid],
  ['outputFormat', null, invalid],
  ['referenceImages', [], accepted],
  ['referenceImages', {}, invalid],
  ['preserveBranding', true, accepted],
  ['preserveBranding', 'true', invalid],
];

describe('field limits', () => {
  test.each(fields)('%s = %j is %s', async (name, value, code) => {
    const { key } = await grant(table);
    expect(await verdict(key, { [name]: value })).toBe(code);
  });

  test('a lone surrogate is refused', async () => {
    const { key } = await grant(table);
    const body = `{"identityId":"${service.ready.identities.ember}","prompt":"\\ud800"}`;
    const answer = await service.api({ path: '/generate', key, body });
    expect(answer.body.code).toBe(invalid);
  });

  test('a number beyond what JSON numbers hold is refused', async () => {
    const { key } = await grant(table);
    const body = `{"identityId":"${service.ready.identities.ember}","prompt":"x","guidanceScale":1e400}`;
    expect((await service.api({ path: '/generate', key, body })).body.code).toBe(invalid);
  });

  test('a body of 1 MiB is read, one byte more is PAYLOAD_TOO_LARGE', async () => {
    const { key } = await grant(table);
    const bodyOf = (bytes: number) => `{"prompt":"${'x'.repeat(bytes - 13)}"}`;
    const fits = await service.api({ path: '/generate', key, body: bodyOf(1024 * 1024) });
    expect(fits.body.code).toBe('MISSING_IDENTITY');
    const over = await service.api({ path: '/generate', key, body: bodyOf(1024 * 1024 + 1) });
    expect([over.status, over.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE']);
  });
});

test("a path or headers beyond 16 KiB are refused in the API's shape", async () => {
  const answer = await service.api({ path: '/health', headers: { 'x-long': 'x'.repeat(20_000) } });
  expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_PARAMETERS']);
  expect(answer.headers.get('x-request-id')).not.toBeNull();
});

const tierLimits = [
  { tier: 'starter', maxOutputs: 1, maxSidePx: 1024 },
  { tier: 'standard', maxOutputs: 4, maxSidePx: 2048 },
  { tier: 'pro', maxOutputs: 4, maxSidePx: 2048 },
  { tier: 'enterprise', maxOutputs: 4, maxSidePx: 2048 },
] as const;

describe('tier limits', () => {
  test.each(tierLimits)('$tier: $maxOutputs outputs and $maxSidePx pixels, not one more', async (limits) => {
    const { tier, maxOutputs, maxSidePx } = limits;
    const { key } = await grant(table, { tier, creditsLimit: 10_000 });
    expect(await verdict(key, { numOutputs: maxOutputs, width: maxSidePx, height: maxSidePx })).toBe(
      accepted,
    );
    expect(await verdict(key, { numOutputs: maxOutputs + 1 })).toBe('TIER_LIMIT');
    expect(await verdict(key, { width: maxSidePx + 64 })).toBe('TIER_LIMIT');
    expect(await verdict(key, { height: maxSidePx + 64 })).toBe('TIER_LIMIT');
  });
});

describe('credit limits', () => {
  test('what fits exactly is accepted, one credit more is not', async () => {
    const exact = await grant(table, { creditsLimit: 100, used: 84 });
    const largest = { numOutputs: 4, width: 2048, height: 2048 };
    expect(await verdict(exact.key, largest)).toBe(accepted);
    const short = await grant(table, { creditsLimit: 100, used: 85 });
    expect(await verdict(short.key, largest)).toBe('CREDIT_LIMIT_EXCEEDED');
  });

  test('each started megapixel of each image is a credit', async () => {
    const costs: [number, number, number, number][] = [
      [512, 512, 1, 1],
      [1024, 1024, 1, 1],
      [1088, 1024, 1, 2],
      [1024, 1024, 4, 4],
      [1088, 1024, 3, 6],
      [2048, 2048, 1, 4],
      [2048, 2048, 4, 16],
    ];
    for (const [width, height, numOutputs, credits] of costs) {
      const enough = await grant(table, { creditsLimit: credits });
      expect(await verdict(enough.key, { width, height, numOutputs })).toBe(accepted);
      const short = await grant(table, { creditsLimit: credits, used: 1 });
      expect(await verdict(short.key, { width, height, numOutputs })).toBe('CREDIT_LIMIT_EXCEEDED');
    }
  });
});

describe('rate limit headers', () => {
  test('tell the policy and what is left, on errors after the limit too, and nothing on a refused key', async () => {
    const { key } = await grant(table);
    for (const left of [9, 8]) {
      const answer = await service.api({ path: '/generate', key, body: '{' });
      expect(answer.headers.get('ratelimit-policy')).toBe('"generate";q=10;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"generate";r=${left};t=(59|60)$`));
    }
    const refused = await service.api({ path: '/generate', key: 'nope', body: '{' });
    expect(refused.headers.get('ratelimit')).toBeNull();
  });

  test('the eleventh request is RATE_LIMITED with the seconds to wait', async () => {
    const { key } = await grant(table);
    for (let i = 0; i < 10; i++) await service.api({ path: '/generate', key, body: '{' });
    const answer = await service.api({ path: '/generate', key, body: '{' });
    expect([answer.status, answer.body.code]).toEqual([429, 'RATE_LIMITED']);
    const retryAfter = answer.headers.get('retry-after');
    expect(answer.headers.get('ratelimit')).toBe(`"generate";r=0;t=${retryAfter}`);
    expect(Number(retryAfter)).toBeGreaterThan(50);
    expect(Number(retryAfter)).toBeLessThanOrEqual(60);
  });
});

describe('the playground', () => {
  async function player(options: Parameters<typeof grant>[1] = {}) {
    const granted = await grant(table, options);
    const session = await sessionOf(service.dataDir, { sub: granted.license.ownerId });
    const bodyOf = (identity: string) => ({ ...small, identityId: service.ready.identities[identity] });
    return {
      ...granted,
      byKey: (identity: string, key = granted.key) =>
        service.api({ path: '/generate', key, body: bodyOf(identity) }),
      play: (identity: string, licenseId = granted.license.licenseId) =>
        service.api({ path: '/playground/generate', key: session, body: { ...bodyOf(identity), licenseId } }),
    };
  }

  test('lets 10 a minute through for one account, whatever licenses; its keys and other accounts go on', async () => {
    const [own, other] = [await player(), await player()];
    const second = newLicense({ ownerId: own.license.ownerId });
    await licenseStore(table).insert(second);
    const ids = [own.license.licenseId, second.licenseId];
    for (let left = 9; left >= 0; left--) {
      const answer = await own.play('ember', ids[left % 2]);
      expectError(answer, 503, 'IDENTITY_UNAVAILABLE');
      expect(answer.headers.get('ratelimit-policy')).toBe('"playground";q=10;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"playground";r=${left};t=\\d+$`));
    }
    for (const id of [...ids, 'lic_unknown']) {
      const refused = await own.play('ember', id);
      expectError(refused, 429, 'RATE_LIMITED');
      expect(refused.body.error).toContain('account');
      const wait = refused.headers.get('retry-after');
      expect(refused.headers.get('ratelimit')).toBe(`"playground";r=0;t=${wait}`);
    }
    const byKey = await own.byKey('ember');
    expectError(byKey, 503, 'IDENTITY_UNAVAILABLE');
    expect(byKey.headers.get('ratelimit')).toMatch(/^"generate";r=9;/);
    expectError(await other.play('ember'), 503, 'IDENTITY_UNAVAILABLE');
  });

  test('shares its license’s credits with keys: 30 parallel requests on 5 credits, exactly 5 are made', async () => {
    const { license, key, byKey, play } = await player({ creditsLimit: 500, used: 495 });
    const second = await issueKey(table, license);
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => [
        play('aurora'),
        byKey('aurora', key),
        byKey('aurora', second.key),
      ]).flat(),
    );
    const made = answers.filter(({ status }) => status === 200);
    const codes = answers.map(({ status, body }) => body.code ?? status).sort();
    expect(codes).toEqual([...Array(5).fill(200), ...Array(25).fill('CREDIT_LIMIT_EXCEEDED')]);
    expect(Math.max(...made.map(({ body }) => body.usage.creditsUsed))).toBe(500);
    await expectCharged(table, license, 500);
  });
});
