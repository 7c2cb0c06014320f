import { GetObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { keepsAnyKey, refusesChangedLinks, survivesKills } from '../engine/local/s3/properties.ts';
import { bucket, startStore, type TestStore } from '../engine/local/s3/support.ts';

let store: TestStore;
beforeAll(async () => void (store = await startStore()));
afterAll(() => store.close());

test('any of 1,500 keys keeps its object apart', async () => {
  await keepsAnyKey(store, 1500);
}, 600_000);

test('none of 3,000 changed characters leaves a link working', async () => {
  const target = { Bucket: bucket, Key: 'mine' };
  await store.client.send(new PutObjectCommand({ ...target, Body: 'my bytes' }));
  const link = await getSignedUrl(store.client, new GetObjectCommand(target));
  await refusesChangedLinks(store, link, 3000);
  expect((await fetch(link)).status).toBe(200);
}, 600_000);

test('a store killed 20 times while it writes has the old object or the new one, whole', async () => {
  await survivesKills(store, 20);
}, 600_000);
