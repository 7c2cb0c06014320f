import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, jest, test } from '@jest/globals';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { runRestore } from '../../../bin/restore/program.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import { isoTime } from '../../../shared/base/clock.ts';
import { objectStore } from '../../../shared/images/object-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { accountStore } from '../../../shared/accounts/store.ts';
import { keepFolder, type Keep } from '../../support/fixture.ts';
import { newLicense, newStoredKey } from '../../support/grants.ts';
import { periodTotals, reserveAbandoned } from '../../support/period-totals.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { createTable, startTable } from '../generations/table.ts';
import { startS3 } from '../local/s3/support.ts';
import { startStandIn } from './stand-in-aws.ts';

const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
const place = { ...credentials, region: 'us-east-1' };
const tableName = 'image-generation-table';
const then = '2026-11-21T09:00:00Z';

const fixture = useFixture(async (keep: Keep) => {
  const folder = keepFolder(keep);
  const { table: present, dynamoDbUrl } = keep(await startTable());
  const old = await createTable();
  const aws = keep(await startStandIn(dynamoDbUrl, { tableName, present: present.name, past: old.name }));
  const s3 = { folder: join(folder, 'objects'), bucketName: 'images', credentials, region: place.region };
  pointSdkAt({ ...place, dynamoDbUrl: aws.url, s3Url: keep(await startS3(s3)).url });
  process.env.AWS_ENDPOINT_URL = aws.url;
  return { folder, present, old, aws };
});

const suspended = { atMs: 1, reason: 'Chargeback' };

test('a restored table loses again what was revoked, ended or deleted since, also after an interruption', async () => {
  const { folder, present, old, aws } = fixture;
  const state = join(folder, 'state.json');
  const said: string[] = [];
  const run = (...more: string[]) =>
    // Of an option that is given twice, the second counts.
    runRestore(['--stack', aws.stackName, '--to', then, '--state', state, ...more], {
      say: (text) => said.push(text),
      pauseMs: 1,
      drainMs: 0,
    });
  const [kept, over] = [newLicense({}), newLicense({ givenName: 'Spring' })];
  const [unpaid, cut, late] = [newLicense({}), newLicense({}), newLicense({})];
  const [key, longGone, last, unaudited] = [1, 2, 3, 4].map(() => newStoredKey(kept).stored);
  for (const table of [present, old]) {
    for (const license of [kept, over, unpaid, cut, late]) await licenseStore(table).insert(license);
    for (const one of [key!, longGone!, last!]) await apiKeyStore(table).insert(one);
  }
  await apiKeyStore(old).insert(unaudited!);
  await apiKeyStore(present).insert({ ...unaudited!, revokedAtMs: 1 });
  await identityStore(old).put({ ...sampleIdentity, identityId: 'aurora' });
  // The command may have begun before the moment and written after it.
  await apiKeyStore(present).revoke(key!, Date.parse(then) - 1);
  await apiKeyStore(present).revoke(longGone!, Date.now());
  await present.documents.send(
    new DeleteCommand({ TableName: present.name, Key: itemKeys.apiKey(longGone!.keyId) }),
  );
  await licenseStore(present).update(unpaid.licenseId, { status: 'past_due', graceUntilMs: 1 });
  await licenseStore(present).update(cut.licenseId, { apiAccess: false, suspended });
  await licenseStore(present).update(over.licenseId, { status: 'ended', givenName: null });
  await accountStore(present).endSessions(kept.ownerId, Date.parse(then) - 1);
  const ofAurora = { identityId: 'aurora' };
  const [failed, deleted, ran, runs] = await Promise.all(
    [1, 2, 3, 4].map(() => reserveAbandoned(old, kept, ofAurora)),
  );
  const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: '' } as const;
  for (const one of [failed!, deleted!]) await generationStore(old).release(one, failure, Date.now());
  const { putTombstone } = objectStore('images');
  const none = { licenseId: kept.licenseId, requestId: '01890a5d-ac96-774b-bcce-b302099a8057' };
  for (const one of [deleted!, ran!, none]) await putTombstone(one, AbortSignal.timeout(5000));

  const reserved = { ...aws.state.reserved };
  expect(await run('--dry-run')).toBe(0);
  expect(said.join('\n')).toMatch(
    /f-sweep 2, f-worker 100, 1 function nothing[^]*\n8\. Open[^]*Nothing was changed/,
  );
  expect([aws.state.changes, existsSync(state)]).toEqual([[], false]);

  const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const closed = `The service may be closed, until this has come to its end: npm run restore -- --stack ${aws.stackName} --to ${isoTime(Date.parse(then))} --state ${state}`;
  const refusedAt = async (action: string | null, ...more: string[]) => {
    aws.state.refusesOnce = action;
    expect(await run(...more)).toBe(1);
    const [text] = stderr.mock.lastCall!;
    expect(text).toContain(closed);
    return text;
  };
  const noted = () => JSON.parse(readFileSync(state, 'utf8'));
  await refusedAt('PUT concurrency', '--yes');
  expect(noted()).toMatchObject({ isClosed: true });
  await refusedAt('DeleteTable', '--yes');
  expect(await refusedAt(null)).toContain('Nothing was changed');
  expect([await run('--dry-run'), said.at(-1)]).toEqual([0, `Nothing was changed. ${closed}`]);
  const { closedAtMs } = noted();
  // Somebody has opened it, so what was noted may not be all.
  aws.state.reserved['f-worker'] = 100;
  await refusedAt('DescribeBackup', '--yes');
  expect(aws.state.reserved['f-worker']).toBe(0);
  expect(noted().closedAtMs).toBeGreaterThan(closedAtMs);
  expect(noted().backups).toBeUndefined();
  // By the CLI, after it was noted.
  aws.state.atBackup = async () => {
    await apiKeyStore(present).revoke(last!, Date.now());
    await licenseStore(present).update(late.licenseId, { activeUntilMs: 1 });
  };
  await refusedAt('RestoreTableFromBackup', '--yes');
  expect(aws.state.reserved).toEqual({ 'f-generate': 0, 'f-sweep': 0, 'f-worker': 0 });
  expect([...aws.state.tables.keys()]).toEqual([`${tableName}-then`]);

  // Neither another moment nor another file may take what is reserved now for what it was.
  const before = aws.state.changes.length;
  await refusedAt(null, '--yes', '--to', '2026-11-22');
  expect(await run('--yes', '--state', join(folder, 'another.json'))).toBe(1);
  expect(aws.state.changes).toHaveLength(before);

  // What was noted of a table that is gone is all there is.
  aws.state.reserved['f-worker'] = 100;
  expect(await run('--yes')).toBe(0);
  expect([aws.state.reserved, existsSync(state)]).toEqual([reserved, false]);
  expect(aws.state.tables.get(tableName)).toMatchObject({
    engineTable: old.name,
    isProtected: true,
    settings: ['ttl', 'recovery', aws.stackName],
  });
  expect(aws.state.backups.get('before-restoring')).toBe(present.name);
  const counted = (name: string) => aws.state.changes.filter((change) => change === name).length;
  expect(['RestoreTableToPointInTime', 'CreateBackup', 'DeleteTable'].map(counted)).toEqual([1, 5, 1]);

  const keys = await apiKeyStore(old).getMany([key!, longGone!, last!, unaudited!].map(({ keyId }) => keyId));
  expect(keys.filter(({ revokedAtMs }) => revokedAtMs === null)).toEqual([]);
  const licenseOf = (license: License) => licenseStore(old).get(license.licenseId);
  expect(await licenseOf(unpaid)).toMatchObject({ status: 'past_due', graceUntilMs: 1 });
  expect(await licenseOf(cut)).toMatchObject({ status: 'active', apiAccess: false, suspended });
  expect(await licenseOf(late)).toMatchObject({ activeUntilMs: 1 });
  expect(await licenseStore(old).get(over.licenseId)).toMatchObject({ status: 'ended', givenName: null });
  expect((await licenseStore(old).get(kept.licenseId))!.status).toBe('active');
  expect((await accountStore(old).getSessionsEnd(kept.ownerId, []))[0]).toBeGreaterThan(0);
  const statusOf = async ({ requestId }: { requestId: string }) =>
    (await generationStore(old).get(kept.licenseId, requestId))?.status;
  expect(await Promise.all([failed!, deleted!, ran!, runs!].map(statusOf))).toEqual([
    'FAILED',
    undefined,
    undefined,
    'TIMEOUT',
  ]);
  expect(await periodTotals(old, kept)).toMatchObject({ used: 0, committed: 0 });
});
