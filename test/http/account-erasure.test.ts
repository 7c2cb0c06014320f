import { expect, test } from '@jest/globals';
import { erasing } from '../../bin/admin/account-erase.ts';
import { dataFolder, readServiceFile } from '../../local/data-folder.ts';
import type { Generation } from '../../shared/generations/generation.ts';
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

  const identityId = service.ready.identities.aurora!;
  const running = await reserveAbandoned(service.table, own.license, { identityId });
  erasing.pause = async () => {};
  expect(await erase('--yes')).toContain('2 requests erased, but 1 still run');
  expect((await own.byKey('/usage')).status).toBe(401);
  expect((await own.bySession('/licenses')).status).toBe(401);
  const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: '' } as const;
  await generationStore(service.table).release(running, failure, Date.now());
  // It was let in before access ended, and is stored when all others have gone.
  const late: Generation[] = [];
  let pauses = 0;
  erasing.pause = async () => {
    if ((pauses += 1) !== 2) return;
    late.push(await reserveAbandoned(service.table, own.license, { identityId, prompt }));
    await generationStore(service.table).release(late[0]!, failure, Date.now());
  };
  expect(await erase('--yes')).toMatchObject({ erased: true, requests: 2, keys: 0 });
  expect(pauses).toBe(3);

  const left = await storedText();
  expect(left).not.toContain(prompt);
  expect(left).not.toContain('creditMails');
  const keys = ofLicense().map(({ key }) => key);
  expect(keys.toSorted()).toEqual(
    [...made, running.requestId, late[0]!.requestId].map((id) => `erased/${licenseId}/${id}`).toSorted(),
  );
  expect(await erase()).toContain('No account has this e-mail address.');
  // Credits that were used stay used, and the license is good for nothing.
  await own.expectCharged(2);
  expect((await own.bySession('/licenses')).status).toBe(401);
  expect((await other.byKey(`/generate/${othersId}`)).status).toBe(200);
});

test('an account that nobody knows is not erased', async () => {
  const mistyped = '7d0b2f3c-0000-4000-8000-000000000000';
  const before = await allItems(service.table);
  const run = await runHere(['--data', service.dataDir, 'account', 'erase', mistyped, '--yes']);
  expect(run).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining('There is no account') });
  expect(await allItems(service.table)).toEqual(before);
});
