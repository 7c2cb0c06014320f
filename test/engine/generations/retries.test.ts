import { expect, test } from '@jest/globals';
import { generationQueue } from '../../../shared/generations/generation-queue.ts';
import { readImage } from '../../../shared/references/image-reader.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import { useScriptedServer, type ScriptedAnswer } from '../../support/scripted-server.ts';

const server = useScriptedServer();
const secret = { region: 'us-east-1', accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
pointSdkAt({ ...secret, dynamoDbUrl: 'http://127.0.0.1:1', s3Url: 'http://127.0.0.1:1' });

const reading = () => readImage(`${server.url}/image`, 10);
const handingOver = () =>
  generationQueue(`${server.url}/1/queue`).add({ licenseId: 'lic_1', requestId: 'r' });

test.each([
  ['an image that is not there', reading, { status: 404 }, 1],
  ['an image whose link is refused', reading, { status: 403 }, 1],
  ['an image that is too large', reading, { body: 'eleven char' }, 1],
  ['an image of a bucket that is busy', reading, { status: 503 }, 3],
  ['an image of a bucket that has a fault', reading, { status: 500 }, 3],
  ['a queue that refuses, also where it only throttles', handingOver, { status: 400 }, 2],
  ['a queue of which too much is asked', handingOver, { status: 429 }, 2],
  ['a queue whose service has a fault', handingOver, { status: 503 }, 2],
])('%s is asked again only if that may help', async (_what, ask, answer, times) => {
  const { status = 200, body = '' }: ScriptedAnswer = answer;
  server.answer = () => ({ status, body, headers: { 'content-length': String(body.length) } });
  await expect(ask()).rejects.toThrow();
  expect(server.requests).toHaveLength(times);
});
