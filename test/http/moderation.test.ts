import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { erasing } from '../../bin/admin/account-erase.ts';
import { dataFolder, readServiceFile } from '../../local/data-folder.ts';
import type { RunningServer } from '../../local/http/server.ts';
import type { ModelRequest } from '../../shared/model/contract.ts';
import { runHere } from '../engine/admin/fixture.ts';
import { deliver, startContainer } from '../fuzz/quick-container.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { tableOf } from '../support/grants.ts';
import { useScriptedServer } from '../support/scripted-server.ts';
import { removeFolder, startService } from '../support/service.ts';
import { allItems } from '../support/table-scan.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

const server = useScriptedServer();
const service = {} as ServiceFixture;
let container: RunningServer;
let account: Account;
let asked: ModelRequest[];

beforeAll(async () => {
  container = await startContainer((request, res) => {
    asked.push(request as ModelRequest);
    return deliver(request, res);
  });
  const args = ['--container', container.url, '--moderation', server.url, '--keep-refused-prompts', '2'];
  Object.assign(service, await startService({ args }));
  service.table = tableOf(service.dataDir);
});
afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});
beforeEach(async () => {
  asked = [];
  server.answer = () => ({ body: JSON.stringify({ allowed: false, categories: ['violence'] }) });
  account = await accountOf({}, service);
});

const admin = async (words: string, ...more: string[]) => {
  const run = await runHere(['--data', service.dataDir, ...words.split(' '), ...more, '--json']);
  return run.code === 0 ? JSON.parse(run.stdout) : run.stderr;
};

const prompt = 'Refused-prompt-Kp4';
const refuse = async (one = account): Promise<string> => {
  const { headers, status } = await one.generate({ prompt, negativePrompt: 'Negative-Kp4' });
  expect(status).toBe(400);
  return headers.get('x-request-id')!;
};

test('an exempt license is checked nowhere, one with thresholds only its pictures otherwise, and neither is told', async () => {
  const { licenseId } = account.license;
  const set = (words: string, ...reason: string[]) =>
    admin(`license moderation ${licenseId} ${words}`, ...reason);
  await set('--exempt --reason', 'A museum.');
  expect((await account.generate({ prompt })).status).toBe(200);
  expect((await account.generate({ prompt }, { prefer: 'respond-async, wait=20' })).status).toBe(200);
  expect([server.requests.length, asked.map(({ pictureCheck }) => pictureCheck)]).toEqual([
    0,
    ['exempt', 'exempt'],
  ]);
  server.answer = () => ({ body: '{"allowed": true}' });
  await set('--threshold nsfw=0.95 --threshold gore=1 --reason', 'Paintings.');
  expect((await account.generate({ prompt })).status).toBe(200);
  await set('--default');
  expect((await account.generate({ prompt })).status).toBe(200);
  expect(server.requests).toHaveLength(2);
  expect(asked.slice(2).map(({ pictureCheck }) => pictureCheck)).toEqual([
    { nsfw: 0.95, gore: 1 },
    undefined,
  ]);

  const { entries } = await admin(`audit ${licenseId}`);
  expect(entries[1].changes).toEqual([
    { member: 'moderation', from: 'exempt', to: 'nsfw=0.95 gore=1' },
    { member: 'moderatedBecause', from: 'A museum.', to: 'Paintings.' },
  ]);
  const { body: shown } = await account.bySession(`/licenses/${licenseId}/activity`);
  expect(JSON.stringify(shown)).not.toMatch(/moderat|license_changed/);
  expect(await set('--exempt')).toContain('need --reason');
  expect(await set('--default --exempt --reason', 'x')).toContain('one of the three');
  expect(await set('--threshold nsfw=0 --reason', 'x')).toContain('(nsfw=0.95)');
});

test('a kept prompt is read with a reason alone, by operators alone, and never logged', async () => {
  const { licenseId } = account.license;
  // The second within ten seconds is kept, too.
  const [, requestId] = [await refuse(), await refuse()];
  const show = `generation show ${licenseId} ${requestId}`;
  const plain = await admin(show);
  expect(plain.refused).toMatchObject({ code: 'CONTENT_REFUSED', requestId });
  expect(JSON.stringify(plain)).not.toContain('Kp4');
  const days = (Date.parse(plain.promptKeptUntil) - Date.now()) / 86_400_000;
  expect([days > 1.99, days <= 2]).toEqual([true, true]);
  expect(await admin(`${show} --prompt`)).toContain('--reason');
  const read = await admin(`${show} --prompt --reason`, 'An appeal.');
  expect(read).toMatchObject({ prompt, negativePrompt: 'Negative-Kp4', categories: ['violence'] });
  const { body: activity } = await account.bySession(`/licenses/${licenseId}/activity`);
  expect(activity.activity[0]).toMatchObject({ action: 'request_read' });

  const owned = await account.bySession(`/licenses/${licenseId}/refused-requests`);
  expect(owned.body.requests).toHaveLength(2);
  expect(JSON.stringify(owned.body)).not.toContain('Kp4');
  expect((await account.byKey(`/generate/${requestId}`)).status).toBe(404);
  expect(readFileSync(`${service.dataDir}/service.log`, 'utf8')).not.toContain('Kp4');
  const items = (await allItems(service.table)).filter(({ PK }) => PK.includes(licenseId));
  const kept = items.filter((item) => JSON.stringify(item).includes('Kp4'));
  expect(kept.map(({ SK }) => SK.split('#')[0])).toEqual(['PROMPT', 'PROMPT']);
  for (const { ttl, endMs } of kept) expect(ttl).toBe(Math.ceil(endMs / 1000));
});

test('an erased account leaves no kept prompt, and another keeps its own', async () => {
  const email = 'stranger@example.test';
  const { accounts } = readServiceFile(dataFolder(service.dataDir)).signIn!;
  const { sub: ownerId } = accounts.find((one) => one.email === email)!;
  const own = await accountOf({ ownerId }, service);
  await refuse(own);
  await refuse();
  erasing.pause = async () => {};
  expect(await admin(`account erase ${email} --yes`)).toMatchObject({ erased: true });
  const prompts = (await allItems(service.table)).filter(({ SK }) => SK.startsWith('PROMPT#'));
  const owners = new Set(prompts.map(({ PK }) => PK));
  expect(owners.has(`REFUSED#${own.license.licenseId}`)).toBe(false);
  expect(owners.has(`REFUSED#${account.license.licenseId}`)).toBe(true);
});
