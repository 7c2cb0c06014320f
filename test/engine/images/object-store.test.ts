import { expect, test } from '@jest/globals';
import { pointSdkAt } from '../../../local/environment.ts';
import { objectStore } from '../../../shared/images/object-store.ts';
import { useScriptedServer } from '../../support/scripted-server.ts';

/** Answers as S3 answers a role that may not list its bucket. */
const server = useScriptedServer();

test.each([
  [200, '5 bytes', 5],
  [403, 'none', null],
  [404, 'none', null],
  [500, 'a failure', undefined],
])('an image of which the store says %i has %s', async (status, _what, bytes) => {
  server.answer = () => ({ status, headers: status === 200 ? { 'content-length': '5' } : {} });
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  pointSdkAt({ region: 'us-east-1', ...credentials, dynamoDbUrl: server.url, s3Url: server.url });
  const image = { licenseId: 'lic_1', requestId: 'r', outputFormat: 'png' } as const;
  const size = objectStore('bucket').outputSize(image, 0);
  if (bytes === undefined) await expect(size).rejects.toThrow();
  else expect(await size).toBe(bytes);
});
