import { createServer } from 'node:http';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { invocationPath } from '../../../local/lambda/engine.ts';
import { referenceFetcherClient } from '../../../shared/adapters/reference-fetcher-client.ts';
import { uploadForms } from '../../../shared/adapters/upload-forms.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import { newUploadId } from '../../../shared/domain/upload.ts';
import { prepareReferences, type ReferenceDeps } from '../../../shared/workflow/prepare-references.ts';
import { samplePhoto, sendFile } from '../../support/uploads.ts';
import { useWorld } from './use-world.ts';

const copied = { copyReferences: true };
const world = useWorld();
let uploadId: string;
const licenseId = 'lic_1';

beforeAll(async () => {
  uploadId = newUploadId(Date.now());
  const form = await uploadForms('image-generation').sign({ licenseId, uploadId }, 'image/png');
  await sendFile({ ...form, uploadId, maxBytes: 0, expiresAt: '' }, await samplePhoto());
});

const ref = () => ({ licenseId, requestId: newRequestId(Date.now()) });

test('a reference lies where the model is told to look, as a picture', async () => {
  const { deps } = world;
  const of = ref();
  await prepareReferences(of, [{ uploadId }], deps, copied);
  const copy = await fetch(await deps.objects.referenceLink(of, 0, 60));
  expect([copy.status, copy.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(
    Buffer.from(await copy.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

test('an upload to which no file was sent is refused, and what to do is said', async () => {
  const empty = newUploadId(world.clock.now());
  await expect(prepareReferences(ref(), [{ uploadId: empty }], world.deps, copied)).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    message: expect.stringContaining(
      'names no file: send one to the url of its upload, within the hour, and use it with a key of the same license',
    ),
  });
});

describe('when references can not be read, that is 503 and no fault of theirs', () => {
  const isUnavailable = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };
  const prepareWith = (changes: Partial<ReferenceDeps>) =>
    prepareReferences(ref(), [{ uploadId }], { ...world.deps, ...changes }, copied);

  test.each([
    ['it is throttled', 429, {}, '{"Type":"User"}'],
    ['it may not be invoked', 403, {}, '{}'],
    ['it failed', 200, { 'x-amz-function-error': 'Unhandled' }, '{"problems":[null]}'],
    ['it timed out', 200, { 'x-amz-function-error': 'Unhandled' }, '{"errorMessage":"Task timed out"}'],
    ['its answer is no JSON', 200, {}, '<html>'],
    ['its answer has another shape', 200, {}, '{"problems":"none"}'],
    ['its answer is for other items', 200, {}, '{"problems":[]}'],
    ['it answers too much', 200, {}, JSON.stringify({ problems: ['x'.repeat(501)] })],
  ])('%s', async (_what, status, headers, body) => {
    const fetcher = await listen(
      createServer((req, res) => {
        req.resume().on('end', () => res.writeHead(status, headers as Record<string, string>).end(body));
      }),
    );
    const references = referenceFetcherClient(fetcher.url + invocationPath('f'));
    await expect(prepareWith({ references })).rejects.toMatchObject(isUnavailable);
    await fetcher.close();
  });

  test('nobody listens', async () => {
    const references = referenceFetcherClient(`http://127.0.0.1:9${invocationPath('f')}`);
    await expect(prepareWith({ references })).rejects.toMatchObject(isUnavailable);
  });

  test('the store is away while they are read', async () => {
    const objects = { ...world.deps.objects, uploadLink: async () => 'http://127.0.0.1:9/' };
    await expect(prepareWith({ objects })).rejects.toMatchObject(isUnavailable);
  });

  test('the store does not take the copy', async () => {
    const { objects } = world.deps;
    const referencePutLink = async () => `${await objects.uploadLink({ licenseId, uploadId })}x`;
    await expect(prepareWith({ objects: { ...objects, referencePutLink } })).rejects.toMatchObject(
      isUnavailable,
    );
  });
});
