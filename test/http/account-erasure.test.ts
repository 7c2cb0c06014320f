import { expect, test } from '@jest/globals';
import { dataFolder, readServiceFile } from '../../local/data-folder.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { runHere } from '../engine/admin/fixture.ts';
import { allObjects } from '../support/objects.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { allItems } from '../support/table-scan.ts';
import { useService } from '../support/use-service.ts';
import { newAccount } from './fixture.ts';

const service = useService();
const email = 'stranger@example.test';

const erase = async (...more: string[]) => {
  const run = await runHere(['--data', service.dataDir, 'account', 'erase', email, '--json', ...more]);
  return run.code === 0 ? JSON.parse(run.stdout) : run.stderr;
};
const storedText = async () => JSON.stringify(await allItems(service.table));

test('an account is erased with its requests, images, keys and sessions, after saying so; another keeps all', async () => {
  const { sub: ownerId } = readServiceFile(dataFolder(service.dataDir)).signIn!.accounts.find(
    (account) => account.email === email,
  )!;
  const own = await newAccount({ ownerId, givenName: 'Campaign of a stranger' }, service);
  const other = await newAccount({}, service);
  await own.bySession('/account', { method: 'PATCH', body: { creditMails: false } });
  const prompt = 'SecretOfAStranger';
  const made = [await own.generate({ prompt }), await own.play({ prompt })].map(({ body }) => body.requestId);
  const { requestId: othersId } = (await other.generate()).body;
  const { licenseId } = own.license;
  const ofLicense = () => allObjects(service.dataDir).filter(({ key }) => key.includes(`/${licenseId}/`));

  const before = [await storedText(), ofLicense().length];
  expect(await erase()).toMatchObject({ ownerId, erased: false, requests: 2 });
  expect([await storedText(), ofLicense().length]).toEqual(before);

  const running = await reserveAbandoned(service.table, own.license, {
    identityId: service.ready.identities.aurora!,
  });
  expect(await erase('--yes')).toContain('2 requests erased, but 1 still run');
  expect((await own.byKey('/usage')).status).toBe(401);
  expect((await own.bySession('/licenses')).status).toBe(401);
  const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: '' } as const;
  await generationStore(service.table).release(running, failure, Date.now());
  expect(await erase('--yes')).toMatchObject({ erased: true, requests: 1, keys: 0 });

  const left = await storedText();
  expect(left).not.toContain(prompt);
  expect(left).not.toContain('creditMails');
  const keys = ofLicense().map(({ key }) => key);
  expect(keys.toSorted()).toEqual(
    [...made, running.requestId].map((id) => `erased/${licenseId}/${id}`).toSorted(),
  );
  expect(await erase()).toContain('No account has this e-mail address.');
  // Credits that were used stay used, and the license is good for nothing.
  await own.expectCharged(2);
  expect((await own.bySession('/licenses')).status).toBe(401);
  expect((await other.byKey(`/generate/${othersId}`)).status).toBe(200);
});
