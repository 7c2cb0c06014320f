import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { referenceReader } from '../../../shared/adapters/reference-reader.ts';
import { uploadForms } from '../../../shared/adapters/upload-forms.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import { newUploadId } from '../../../shared/domain/upload.ts';
import { prepareReferences } from '../../../shared/workflow/prepare-references.ts';
import { samplePhoto, sendFile } from '../../support/uploads.ts';
import { startWorld, type World } from './world.ts';

let world: World;
let uploadId: string;
const licenseId = 'lic_1';

beforeAll(async () => {
  world = await startWorld();
  uploadId = newUploadId(Date.now());
  const form = await uploadForms('image-generation').sign({ licenseId, uploadId }, 'image/png');
  await sendFile({ ...form, uploadId, maxBytes: 0, expiresAt: '' }, await samplePhoto());
});

afterAll(() => world.close());

const ref = () => ({ licenseId, requestId: newRequestId(Date.now()) });

test('a reference lies where the model is told to look, as a picture', async () => {
  const { deps } = world;
  const of = ref();
  await prepareReferences(of, [{ uploadId }], deps);
  const copy = await fetch(await deps.objects.referenceLink(of, 0, 60));
  expect([copy.status, copy.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(
    Buffer.from(await copy.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

test('an upload is over at its hour to the millisecond, by the service’s clock', async () => {
  const nowMs = world.clock.now();
  // A clock that stands still: the hour is over while a slow machine thinks.
  const deps = { ...world.deps, clock: { ...world.clock, now: () => nowMs } };
  const last = newUploadId(nowMs - 3_600_000 + 1);
  const late = newUploadId(nowMs - 3_600_000);
  const told = (id: string) =>
    prepareReferences(ref(), [{ uploadId: id }], deps).catch((error: Error) => error.message);
  expect(await told(last)).toContain('names no file');
  expect(await told(late)).toContain('more than an hour ago');
});

describe('when references can not be read, that is 503 and no fault of theirs', () => {
  async function withReader(answer: RequestListener, work: (url: string) => Promise<void>): Promise<void> {
    const server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await work(
        `http://127.0.0.1:${(server.address() as AddressInfo).port}/2015-03-31/functions/f/invocations`,
      );
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  }

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
    const answer: RequestListener = (req, res) => {
      req.resume().on('end', () => res.writeHead(status, headers as Record<string, string>).end(body));
    };
    await withReader(answer, async (url) => {
      const deps = { ...world.deps, references: referenceReader(url) };
      const refused = prepareReferences(ref(), [{ uploadId }], deps);
      await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
    });
  });

  test('nobody listens', async () => {
    const deps = {
      ...world.deps,
      references: referenceReader('http://127.0.0.1:9/2015-03-31/functions/f/invocations'),
    };
    const refused = prepareReferences(ref(), [{ uploadId }], deps);
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test('the store is away while they are read', async () => {
    const { objects } = world.deps;
    const away = { ...objects, uploadLink: async () => 'http://127.0.0.1:9/' };
    const refused = prepareReferences(ref(), [{ uploadId }], { ...world.deps, objects: away });
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  test('the store does not take the copy', async () => {
    const { objects } = world.deps;
    const away = {
      ...objects,
      referencePutLink: async () => `${await objects.uploadLink({ licenseId, uploadId })}x`,
    };
    const refused = prepareReferences(ref(), [{ uploadId }], { ...world.deps, objects: away });
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

test('nothing is asked for a request without references', async () => {
  const deps = { ...world.deps, references: referenceReader('http://127.0.0.1:9/') };
  await prepareReferences(ref(), [], deps);
});
