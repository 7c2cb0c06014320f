import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Table } from '../../shared/store/table.ts';
import { startQuickContainer } from '../fuzz/quick-container.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { grant, tableOf } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type ApiAnswer, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';

let service: RunningService;
let container: Awaited<ReturnType<typeof startQuickContainer>>;
let table: Table;

beforeAll(async () => {
  container = await startQuickContainer();
  service = await startService({ args: ['--container', container.url] });
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});

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

/** Everything in the table but the callers' logs of their rate limits, which a dry run counts for. */
async function everythingStored(): Promise<unknown[]> {
  const { Items = [] } = await table.documents.send(
    new ScanCommand({ TableName: table.name, ConsistentRead: true }),
  );
  return Items.filter(({ SK }) => !String(SK).startsWith('RATE')).sort((a, b) =>
    `${a.PK} ${a.SK}`.localeCompare(`${b.PK} ${b.SK}`),
  );
}

const filesStored = () => readdirSync(join(service.dataDir, 'objects'), { recursive: true }).length;

describe('POST /generate?dryRun=true', () => {
  test('tells what the request costs, and leaves no trace', async () => {
    const { key } = await grant(table, { creditsLimit: 10, used: 3 });
    const [items, files] = [await everythingStored(), filesStored()];
    const answer = await send(key, body({ numOutputs: 2 }), { headers: { 'idempotency-key': 'dry' } });
    expectOk(answer);
    expect(answer.body).toMatchObject({
      dryRun: true,
      accepted: true,
      identity: { id: service.ready.identities.aurora },
      credits: 2,
      usage: { creditsUsed: 3, creditsLimit: 10, creditsRemaining: 7, creditsCharged: 0 },
    });
    expect([await everythingStored(), filesStored()]).toEqual([items, files]);
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
    const { aurora, drift, ember, citrine } = service.ready.identities;
    const poor = { creditsLimit: 1 };
    const cases: [unknown, object?][] = [
      ['{'],
      [body({ identityId: undefined })],
      [body({ identityId: 'idn_unknown' })],
      [body({ identityId: drift })],
      [body({ width: 500, steps: 3 })],
      [body({ identityId: aurora, referenceImages: [{ url: 'https://a.example/1.png' }] })],
      [body({ identityId: citrine, referenceImages: [{ uploadId: 'upl_unknown' }] })],
      [body({ numOutputs: 9 }), { tier: 'starter' }],
      [body({ numOutputs: 2 }), poor],
      [body({ identityId: ember, numOutputs: 2 }), poor],
      [body({ identityId: ember })],
    ];
    const codes: string[] = [];
    for (const [sent, changes] of cases) {
      const { key } = await grant(table, changes);
      const [dry, real] = [await send(key, sent), await send(key, sent, { query: '?dryRun=false' })];
      expect([dry.status, dry.body]).toEqual([real.status, real.body]);
      expectError(dry, real.status, real.body.code);
      expect(dry.headers.has('retry-after')).toBe(real.headers.has('retry-after'));
      codes.push(dry.body.code);
    }
    expect(codes).toEqual([
      'INVALID_BODY',
      'MISSING_IDENTITY',
      'IDENTITY_NOT_FOUND',
      'IDENTITY_MISMATCH',
      'INVALID_PARAMETERS',
      'INVALID_PARAMETERS',
      'INVALID_PARAMETERS',
      'TIER_LIMIT',
      'CREDIT_LIMIT_EXCEEDED',
      'CREDIT_LIMIT_EXCEEDED',
      'IDENTITY_UNAVAILABLE',
    ]);
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
    const { key, license } = await grant(table);
    const upload = await service.api({ method: 'POST', path: '/uploads', key });
    await sendFile(upload.body, await samplePhoto({ format: 'png' }));
    const { uploadId } = upload.body;
    const files = filesStored();
    const withPhoto = body({
      identityId: service.ready.identities.citrine,
      referenceImages: [{ uploadId }],
    });
    expect((await send(key, withPhoto)).body).toMatchObject({ accepted: true, credits: 1 });
    expect(filesStored()).toBe(files);
    const other = await grant(table, { ownerId: license.ownerId });
    const refused = await send(other.key, withPhoto);
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toMatch(/^referenceImages\[0\]\.uploadId: names no file/);
  });

  test('does not take its Idempotency-Key, and knows what one stands for', async () => {
    const { key } = await grant(table);
    const headers = { 'idempotency-key': 'one' };
    await send(key, body(), { headers });
    const real = await send(key, body(), { headers, query: '' });
    expect(real.headers.has('idempotent-replayed')).toBe(false);
    const dry = await send(key, body(), { headers });
    expect(dry.body).toMatchObject({ accepted: true, credits: 0, usage: { creditsUsed: 1 } });
    expect(dry.headers.get('idempotent-replayed')).toBe('true');
    expectError(await send(key, body({ seed: 1 }), { headers }), 422, 'IDEMPOTENCY_MISMATCH');
  });

  test('counts for the rate limit', async () => {
    const { key } = await grant(table);
    for (let i = 0; i < 10; i++) expectOk(await send(key, body()));
    expectError(await send(key, body()), 429, 'RATE_LIMITED');
  });

  test('is there in the playground too', async () => {
    const { license } = await grant(table, { creditsLimit: 5 });
    const session = await sessionOf(service.dataDir, { sub: license.ownerId });
    const path = '/playground/generate?dryRun=true';
    const sent = body({ licenseId: license.licenseId });
    expect((await service.api({ path, key: session, body: sent })).body).toMatchObject({
      accepted: true,
      usage: { creditsUsed: 0, creditsLimit: 5 },
    });
    const foreign = body({ licenseId: (await grant(table)).license.licenseId });
    expectError(await service.api({ path, key: session, body: foreign }), 404, 'LICENSE_NOT_FOUND');
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
