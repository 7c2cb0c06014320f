import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pointSdkAt } from '../../../local/environment.ts';
import { listen, type RunningServer } from '../../../local/http/server.ts';
import { objectStore, type ObjectStore } from '../../../shared/images/object-store.ts';

/** A store that answers as S3 answers a role that may not list its bucket. */
let server: RunningServer;
let objects: ObjectStore;
let status = 200;
const image = { licenseId: 'lic_1', requestId: 'r', outputFormat: 'png' } as const;

beforeAll(async () => {
  server = await listen(
    createServer((_req, res) => {
      res.writeHead(status, status === 200 ? { 'content-length': 5 } : {}).end();
    }),
  );
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  pointSdkAt({ region: 'us-east-1', ...credentials, dynamoDbUrl: server.url, s3Url: server.url });
  objects = objectStore('bucket');
});

afterAll(() => server.close());

test.each([
  [200, 'its size', 5],
  [403, 'none', null],
  [404, 'none', null],
])('an image of which the store says %i has %s', async (answered, _what, bytes) => {
  status = answered;
  expect(await objects.outputSize(image, 0)).toBe(bytes);
});

test('a store that fails is a failure, not a missing image', async () => {
  status = 500;
  await expect(objects.outputSize(image, 0)).rejects.toThrow();
});
