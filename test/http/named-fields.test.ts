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
