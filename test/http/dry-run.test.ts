import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { newAccount } from '../support/accounts.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, type Granted } from '../support/grants.ts';
import { objectsOf } from '../support/objects.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { itemsWith } from '../support/table-scan.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;

const body = (changes: object = {}) => ({
  ...small,
  identityId: service.ready.identities.aurora,
  ...changes,
});

const send = (
  key: string,
  sent: unknown,
  { query = '?dryRun=true', headers = {} }: { query?: string; headers?: Record<string, string> } = {},
): Promise<ApiAnswer> => service.api({ path: `/generate${query}`, key, body: sent, headers });

/** Every item of the table that tells of a license or a key, but the logs of rate limits: a dry run counts for them. */
async function itemsOf({ license, keyId }: Granted): Promise<unknown[]> {
  const items = await itemsWith(table, [license.licenseId, keyId]);
  return items.filter(({ PK }) => !String(PK).startsWith('RATE#'));
}

const keysOf = ({ license }: Granted) => objectsOf(service.dataDir, license).map(({ key }) => key);

describe('POST /generate?dryRun=true', () => {
  test('tells what the request costs, and leaves no trace', async () => {
    const granted = await grant(table, { creditsLimit: 10, used: 3 });
    const { key } = granted;
    const items = await itemsOf(granted);
    expect(items.length).toBeGreaterThan(2);
    const answer = await send(key, body({ numOutputs: 2 }), { headers: { 'idempotency-key': 'dry' } });
    expectOk(answer);
    expect(answer.body).toMatchObject({
      dryRun: true,
      accepted: true,
      identity: { id: service.ready.identities.aurora },
      credits: 2,
      usage: { creditsUsed: 3, creditsLimit: 10, creditsRemaining: 7, creditsCharged: 0 },
    });
    expect([await itemsOf(granted), keysOf(granted)]).toEqual([items, []]);
    const again = await service.api({ path: `/generate/${answer.headers.get('x-request-id')}`, key });
    expectError(again, 404, 'REQUEST_NOT_FOUND');
  });

  test('answers JSON whatever the client accepts, for there is nothing to follow', async () => {
    const { key } = await grant(table);
    const answer = await send(key, body(), { headers: { accept: 'text/event-stream' } });
    expectOk(answer);
    expect(answer.body.accepted).toBe(true);
  });

  test('is refused exactly as the request itself is', async () => {
    const { drift, ember } = service.ready.identities;
    const poor = { creditsLimit: 1 };
    const cases: [code: string, unknown, object?][] = [
      ['INVALID_BODY', '{'],
      ['IDENTITY_MISMATCH', body({ identityId: drift })],
      ['INVALID_PARAMETERS', body({ width: 500, steps: 3 })],
      ['TIER_LIMIT', body({ numOutputs: 2 }), { tier: 'starter' }],
      ['CREDIT_LIMIT_EXCEEDED', body({ identityId: ember, numOutputs: 2 }), poor],
      ['IDENTITY_UNAVAILABLE', body({ identityId: ember })],
    ];
    for (const [code, sent, changes] of cases) {
      const { key } = await grant(table, changes);
      const [dry, real] = [await send(key, sent), await send(key, sent, { query: '?dryRun=false' })];
      expectError(dry, real.status, code);
      expect(dry.body).toEqual(real.body);
      expect(dry.headers.has('retry-after')).toBe(real.headers.has('retry-after'));
    }
  });

  test.each(['?dryRun=TRUE', '?dryRun=1', '?dryRun=', '?dryRun', '?dryRun=true&dryRun=true', '?dryrun=true'])(
    'is never mistaken for a request that pays: %s',
    async (query) => {
      const { key } = await grant(table);
      const answer = await send(key, body(), { query });
      expectError(answer, 400, 'INVALID_PARAMETERS');
      expect(answer.body.error).toMatch(/dryrun/i);
      expect((await service.api({ path: '/generate', key })).body.generations).toEqual([]);
    },
  );

  test('looks at reference images and copies none', async () => {
    const granted = await grant(table);
    const { key } = granted;
    const upload = await service.api({ method: 'POST', path: '/uploads', key });
    await sendFile(upload.body, await samplePhoto({ format: 'png' }));
    const { uploadId } = upload.body;
    const before = keysOf(granted);
    const withPhoto = body({
      identityId: service.ready.identities.citrine,
      referenceImages: [{ uploadId }],
    });
    expect((await send(key, withPhoto)).body).toMatchObject({ accepted: true, credits: 1 });
    expect(before).toHaveLength(1);
    expect(keysOf(granted)).toEqual(before);
  });

  test('is there in the playground too', async () => {
    const { license, bySession } = await newAccount(service, { creditsLimit: 5 });
    const path = '/playground/generate?dryRun=true';
    const sent = body({ licenseId: license.licenseId });
    expect((await bySession(path, { body: sent })).body).toMatchObject({
      accepted: true,
      usage: { creditsUsed: 0, creditsLimit: 5 },
    });
    const foreign = body({ licenseId: (await grant(table)).license.licenseId });
    expectError(await bySession(path, { body: foreign }), 404, 'LICENSE_NOT_FOUND');
  });

  test('is a dry run in the log too', async () => {
    const { key } = await grant(table);
    const answer = await send(key, body());
    const requestId = answer.headers.get('x-request-id')!;
    const logged = () =>
      readFileSync(join(service.dataDir, 'service.log'), 'utf8')
        .split('\n')
        .find((line) => line.includes('"request"') && line.includes(requestId));
    await until('the request is logged', () => logged() !== undefined);
    expect(JSON.parse(logged()!)).toMatchObject({ dryRun: 'true', status: 200 });
  });
});
