import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { licenseIdOfGeneration } from '../../shared/table/keys.ts';
import { isFinal } from '../../shared/generations/generation.ts';
import type { Table } from '../../shared/table/table.ts';
import { seededRandom } from '../faults/simulation/random.ts';
import { startFaultyContainer, type FaultyContainer } from '../support/faulty-container.ts';
import { grant, tableOf, type Granted } from '../support/grants.ts';
import { answer as page, redirect } from '../support/internet/pages.ts';
import { preload } from '../support/internet/preloaded.ts';
import { startSmallInternet, type SmallInternet } from '../support/internet/small-internet.ts';
import { allObjects } from '../support/objects.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../support/service.ts';
import { allItems } from '../support/table-scan.ts';
import { until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';

const requests = 1000;
const clients = 6;
/** Fewer than a key may send in a minute. */
const requestsOfAKey = 8;
const seed = 20;

let folder: string;
let net: SmallInternet;
let container: FaultyContainer;
let service: RunningService;
let table: Table;
let photo: Buffer;

beforeAll(async () => {
  folder = temporaryFolder();
  net = await startSmallInternet();
  container = await startFaultyContainer(seed);
  const { env } = preload(net.access, join(folder, 'destinations'));
  const args = ['--container', container.url, '--deadline', '10'];
  service = await startService({ dataDir: join(folder, 'data'), args, env });
  table = tableOf(service.dataDir);
  photo = await samplePhoto();
  net.site('cat.example', {
    '/cat.png': page(photo),
    '/text': page('no picture'),
    '/moved': redirect(302, 'https://cat.example/cat.png'),
  });
});
afterAll(async () => {
  await service.end();
  await Promise.all([net.close(), container.close()]);
  removeFolder(folder);
});

const url = (path: string) => ({ url: `https://cat.example${path}` });
type Random = ReturnType<typeof seededRandom>;

async function uploads(key: string, count: number): Promise<object[]> {
  const made = await Promise.all(
    Array.from({ length: count }, async () => {
      const { body } = await service.api({ method: 'POST', path: '/uploads', key });
      await sendFile(body, photo);
      return { uploadId: body.uploadId as string };
    }),
  );
  return made;
}

/** Ways to ask, each with how often it is drawn: accepted and refused, with references and without. */
const kinds = {
  plain: 30,
  fails: 8,
  refusedPlain: 6,
  byUpload: 14,
  byLink: 10,
  oneLinkIsGone: 8,
  oneOfThreeIsNoPicture: 8,
  tooLargeForItsTier: 4,
  tooDear: 4,
  ofAnIdentityWithoutPhotos: 2,
  tried: 3,
  twiceAtOnce: 3,
} as const;

/** @returns the codes of its answers. */
async function ask(random: Random, granted: Granted, kind: keyof typeof kinds): Promise<string[]> {
  const { citrine, aurora, flint, ember } = service.ready.identities;
  const { key } = granted;
  const send = async (more: object, path = '/generate', headers: Record<string, string> = {}) => {
    const sent = await service.api({ path, key, body: { ...small, identityId: citrine, ...more }, headers });
    return sent.status === 200 ? 'OK' : String(sent.body.code);
  };
  const links = [url('/cat.png'), url('/moved')];
  const some = async () => ({ referenceImages: await uploads(key, random.int(1, 4)) });
  switch (kind) {
    case 'plain':
      return [await send({ identityId: aurora, numOutputs: random.int(1, 2) })];
    case 'fails':
      return [await send({ identityId: flint })];
    case 'refusedPlain':
      return [await send({ width: 500 })];
    case 'byUpload':
      return [await send(await some())];
    case 'byLink':
      return [await send({ referenceImages: links })];
    case 'oneLinkIsGone':
      return [await send({ referenceImages: [...links, url('/gone')] })];
    case 'oneOfThreeIsNoPicture':
      return [await send({ referenceImages: [...(await uploads(key, 2)), url('/text')] })];
    case 'tooLargeForItsTier':
      return [await send({ ...(await some()), numOutputs: 4, width: 4096 - 64 })];
    case 'tooDear':
      return [await send({ ...(await some()), numOutputs: 4, width: 2048, height: 2048 })];
    case 'ofAnIdentityWithoutPhotos':
      return [await send({ ...(await some()), identityId: ember })];
    case 'tried':
      return [await send(await some(), '/generate?dryRun=true')];
    case 'twiceAtOnce': {
      const body = await some();
      const headers = { 'idempotency-key': `once-${random.int(0, 1e9)}` };
      return Promise.all([send(body, '/generate', headers), send(body, '/generate', headers)]);
    }
  }
}

test('after 1,000 requests of every kind nothing lies in the bucket that belongs to no stored request', async () => {
  const random = seededRandom(seed);
  const answers: Record<string, number> = {};
  let sent = 0;
  async function client(): Promise<void> {
    while (sent < requests) {
      // Some can pay everything, some little, and some have a tier that may not have large pictures.
      const tier = random.chance(0.2) ? 'starter' : 'pro';
      const granted = await grant(table, { tier, creditsLimit: random.pick([3, 15, 4000]) });
      for (let i = 0; i < requestsOfAKey && sent < requests; i++) {
        sent += 1;
        const kind = random.weighted(kinds);
        for (const code of await ask(random, granted, kind)) {
          const name = `${kind}: ${code}`;
          answers[name] = (answers[name] ?? 0) + 1;
        }
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client));

  const generations = async () => (await allItems(table)).filter(({ PK }) => String(PK).startsWith('GEN#'));
  await until(
    'nothing runs',
    async () => (await generations()).every(({ status }) => isFinal(status)),
    120_000,
  );
  const records = await generations();
  const stored = new Set(records.map((item) => `${licenseIdOfGeneration(item)}/${item.SK}`));
  const keys = allObjects(service.dataDir).map(({ key }) => key);
  const below = (prefix: string) => keys.filter((key) => key.startsWith(prefix));
  const strangers = below('generations/').filter((key) => !stored.has(key.split('/').slice(1, 3).join('/')));
  const withReferences = records.filter(({ referenceImages }) => Number(referenceImages) > 0).length;
  console.log({
    answers,
    records: stored.size,
    withReferences,
    images: below('generations/').length,
    uploads: below('uploads/').length,
    copies: below('references/').length,
    'images of no record': strangers.length,
  });
  expect([strangers, below('references/')]).toEqual([[], []]);
  // Uploads are nobody's record: they end by a rule of the bucket.
  expect(keys.length).toBe(below('generations/').length + below('uploads/').length);
  expect(withReferences).toBeGreaterThan(100);
  const log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  expect(log).not.toContain('references not deleted');
}, 900_000);
