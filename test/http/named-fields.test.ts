import { beforeAll, describe, expect, test } from '@jest/globals';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectError } from '../support/answers.ts';
import type { ApiCall } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { aurora } = service.ready.identities;
let account: Account;

beforeAll(async () => {
  account = await newAccount(service);
});

/** A request with several faults, and what its one refusal must name. */
interface Faulty {
  by: 'key' | 'session';
  path: string;
  /** Gets the id of a license of the caller's. */
  body?: (licenseId: string) => object;
  headers?: Record<string, string>;
  names: string[];
}

const exact = { referenceMode: 'exact_product', referenceImages: null };
const url = 'https://a.example/mug.png';

describe('a refusal names every field that is wrong', () => {
  test.each<Faulty>([
    {
      by: 'key',
      path: '/generate?x=1',
      body: () => ({ identityId: aurora, prompt: '', width: 1, ...exact }),
      headers: { 'idempotency-key': 'two words' },
      names: ['"x"', 'Idempotency-Key', 'prompt must', 'width must', 'referenceMode', 'referenceImages'],
    },
    {
      by: 'key',
      path: '/generate',
      body: () => ({ identityId: aurora, prompt: 'x', seed: -1, referenceImages: [{ url, uploadId: 'u' }] }),
      names: ['referenceImages must be left out', 'seed must', 'referenceImages[0] must have exactly one'],
    },
    {
      by: 'session',
      path: '/playground/generate?x=1',
      body: () => ({ identityId: aurora, prompt: 'x', width: 1, ...exact }),
      names: ['licenseId must', '"x"', 'width must', 'referenceMode'],
    },
    {
      by: 'session',
      path: '/keys?x=1',
      body: (licenseId) => ({ licenseId, name: '', expiresAt: '2020-01-01T00:00:00Z', color: 1 }),
      names: ['"x"', 'name must', 'expiresAt must lie in the future', '"color"'],
    },
    {
      by: 'session',
      path: '/keys',
      body: () => ({ licenseId: '', name: 5, expiresAt: 'tomorrow' }),
      names: ['licenseId must', 'name must', 'expiresAt must be'],
    },
    {
      by: 'session',
      path: '/uploads?x=1',
      body: () => ({ contentType: 'image/gif', licenseId: '' }),
      names: ['"x"', 'contentType must', 'licenseId must'],
    },
    {
      by: 'key',
      path: '/uploads?x=1',
      body: () => ({ contentType: 'image/gif', y: 1 }),
      names: ['"x"', 'contentType must', '"y"'],
    },
    {
      by: 'session',
      path: '/generate?x=1&limit=0&cursor=no&status=LOST&identityId=%20',
      names: ['"x"', 'limit must', 'cursor must', 'status must', 'identityId must', 'licenseId must'],
    },
    { by: 'session', path: '/usage?x=1', names: ['"x"', 'licenseId must'] },
    { by: 'session', path: '/identities?x=1&licenseId=', names: ['"x"', 'licenseId must'] },
  ])('by $by: $path $names', async ({ by, path, body, headers, names }) => {
    const call: ApiCall = { path, key: by === 'key' ? account.key : account.session };
    if (body) call.body = body(account.license.licenseId);
    if (headers) call.headers = headers;
    const answer = await service.api(call);
    expectError(answer, 400, 'INVALID_PARAMETERS');
    for (const name of names) expect(answer.body.error).toContain(name);
  });
});

describe('null is the absence of an optional member', () => {
  test('of a key', async () => {
    const { licenseId } = account.license;
    const body = { licenseId, name: 'null', expiresAt: null };
    const answer = await service.api({ path: '/keys', key: account.session, body });
    expect([answer.status, answer.body.expiresAt]).toEqual([201, null]);
  });

  test('of an upload', async () => {
    const body = { contentType: null };
    const answer = await service.api({ path: '/uploads', key: account.key, body });
    expect(answer.status).toBe(201);
    expect(answer.body.fields['Content-Type']).toBe('application/octet-stream');
  });

  test('of a request to generate', async () => {
    const nulls = { seed: null, width: null, referenceImages: null, referenceMode: null, outputFormat: null };
    const body = { identityId: aurora, prompt: 'x', ...nulls };
    const answer = await service.api({ path: '/generate?dryRun=true', key: account.key, body });
    expect([answer.status, answer.body.credits]).toEqual([200, 1]);
  });
});
