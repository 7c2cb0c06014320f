import { expect, test } from '@jest/globals';
import { expectError } from '../support/answers.ts';
import { identities, newAccount } from './fixture.ts';

const { aurora } = identities;
const account = await newAccount();
const { licenseId } = account.license;

const exact = { referenceMode: 'exact_product', referenceImages: null };
const noKey = { name: ' ', monthlyCredits: 1_000_000_001, expiresAt: null };
const noUpload = { contentType: 'image/gif', y: 1 };

/** A request with several faults, and what its one refusal must name. */
test.each<[by: 'byKey' | 'bySession', call: string, body: object | undefined, names: string[]]>([
  [
    'byKey',
    'POST /generate?x=1',
    { identityId: aurora, prompt: '', width: 1, ...exact },
    ['"x"', 'Idempotency-Key', 'prompt must', 'width must', 'referenceMode', 'referenceImages'],
  ],
  [
    'bySession',
    'POST /playground/generate?x=1',
    { identityId: aurora, prompt: 'x', width: 1, ...exact },
    ['licenseId must', '"x"', 'Idempotency-Key', 'width must', 'referenceMode'],
  ],
  [
    'bySession',
    'POST /keys?x=1',
    { licenseId, name: '', expiresAt: '2020-01-01T00:00:00Z', color: 1 },
    ['"x"', 'name must', 'expiresAt must lie in the future', '"color"'],
  ],
  ['bySession', 'PATCH /keys/x?x=1', noKey, ['"x"', 'name must', 'monthlyCredits must', '"expiresAt"']],
  ['bySession', 'POST /uploads?x=1', noUpload, ['"x"', 'contentType must', 'licenseId must']],
  ['byKey', 'POST /uploads?x=1', noUpload, ['"x"', 'contentType must', '"y"']],
  [
    'bySession',
    'GET /generate?x=1&limit=0&cursor=no&status=LOST&identityId=%20',
    undefined,
    ['"x"', 'limit must', 'cursor must', 'status must', 'identityId must', 'licenseId must'],
  ],
  ['bySession', 'GET /usage?x=1', undefined, ['"x"', 'licenseId must']],
  ['bySession', 'GET /identities?x=1&licenseId=', undefined, ['"x"', 'licenseId must']],
])('a refusal names every field that is wrong, %s: %s', async (by, call, body, names) => {
  const [method, path] = call.split(' ') as [string, string];
  const answer = await account[by](path, { method, body, headers: { 'idempotency-key': 'two words' } });
  expectError(answer, 400, 'INVALID_PARAMETERS');
  for (const name of names) expect(answer.body.error).toContain(name);
});
