import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pointSdkAt } from '../../../local/environment.ts';
import { objectStore, type ObjectStore } from '../../../shared/adapters/object-store.ts';

/** A store that answers as S3 answers a role that may not list its bucket. */
let server: Server;
let objects: ObjectStore;
let answer = { status: 200, bytes: 5 };

beforeAll(async () => {
  server = createServer((_req, res) => {
    res.writeHead(answer.status, answer.status === 200 ? { 'content-length': answer.bytes } : {}).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  pointSdkAt({ region: 'us-east-1', ...credentials, dynamoDbUrl: url, s3Url: url });
  objects = objectStore('bucket');
});

afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

const image = { licenseId: 'lic_1', requestId: 'r', outputFormat: 'png' } as const;

test('an image that is there has its size', async () => {
  answer = { status: 200, bytes: 5 };
  expect(await objects.outputSize(image, 0)).toBe(5);
});

test.each([403, 404])('an image of which the store says %i is not there', async (status) => {
  answer = { status, bytes: 0 };
  expect(await objects.outputSize(image, 0)).toBeNull();
});

test('a store that fails is a failure, not a missing image', async () => {
  answer = { status: 500, bytes: 0 };
  await expect(objects.outputSize(image, 0)).rejects.toThrow();
});
