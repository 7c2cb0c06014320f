import { createServer } from 'node:http';
import { S3 } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { invocationPath } from '../../../local/lambda/engine.ts';
import { referenceFetcherClient } from '../../../shared/references/reader-client.ts';
import { uploadForms } from '../../../shared/images/upload-forms.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { newUploadId } from '../../../shared/images/upload.ts';
import type { GenerationRef } from '../../../shared/generations/store.ts';
import { acceptGeneration, type GenerationCommand } from '../../../shared/generations/create.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import { prepareReferences, type ReferenceDeps } from '../../../shared/references/prepare-references.ts';
import { sweep } from '../../../shared/generations/sweep.ts';
import { samplePhoto, sendFile } from '../../support/uploads.ts';
import { useEngines } from '../generations/use-engines.ts';
import { identity, newCommand, paint, run, says, withDeadline } from '../generations/fixture.ts';

const copied = { copyReferences: true };
const fixture = useEngines();
let uploadId: string;
const licenseId = 'lic_1';

beforeAll(async () => {
  uploadId = newUploadId(Date.now());
  const form = await uploadForms('image-generation').sign({ licenseId, uploadId }, 'image/png');
  await sendFile({ ...form, uploadId, maxBytes: 0, expiresAt: '' }, await samplePhoto());
});

const ref = () => ({ licenseId, requestId: newRequestId(Date.now()) });

test('a reference lies where the model is told to look, as a picture', async () => {
  const { deps } = fixture;
  const of = ref();
  await prepareReferences(of, [{ uploadId }], deps, copied);
  const copy = await fetch(await deps.objects.referenceLink(of, 0, 60));
  expect([copy.status, copy.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(
    Buffer.from(await copy.arrayBuffer())
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
  await deps.objects.deleteReferences(of, 1, AbortSignal.timeout(60_000));
  expect((await fetch(await deps.objects.referenceLink(of, 0, 60))).status).toBe(404);
});

test('the link to store one with lives no longer than its request waits for it', async () => {
  const link = new URL(await fixture.deps.objects.referencePutLink(ref(), 0));
  expect(Number(link.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(15);
});

test('an upload to which no file was sent is refused, and what to do is said', async () => {
  const empty = newUploadId(fixture.clock.now());
  await expect(prepareReferences(ref(), [{ uploadId: empty }], fixture.deps, copied)).rejects.toMatchObject({
    code: 'INVALID_PARAMETERS',
    message: expect.stringContaining(
      'names no file: send one to the url of its upload, within the hour, and use it with a key of the same license',
    ),
  });
});

/** The copies that lie in the bucket, by their place below the request that they are of. */
async function copies(): Promise<string[]> {
  const { Contents: found = [] } = await new S3({}).listObjectsV2({
    Bucket: 'image-generation',
    Prefix: 'references/',
  });
  return found.map(({ Key: key }) => key!);
}

describe('copies', () => {
  /** Of a license whose upload is there. */
  const command = (changes: Partial<GenerationCommand> = {}): GenerationCommand => {
    const made = newCommand(fixture, changes);
    return {
      ...made,
      license: { ...made.license, licenseId },
      identity: { ...identity, productPhotos: true },
      body: { ...made.body, referenceImages: [{ uploadId }, { uploadId }] },
    };
  };
  const placesOf = ({ requestId }: GenerationCommand) =>
    [0, 1].map((i) => `references/${licenseId}/${requestId}/${i}`);
  afterEach(async () => expect(await copies()).toEqual([]));

  test('lie below the prefix of references while the model paints, and are gone with the answer', async () => {
    const one = command();
    let whilePainting: string[] = [];
    fixture.container.state.behaviour = async (request, res) => {
      whilePainting = await copies();
      await paint(request, res);
    };
    expect(await run(one, fixture.deps)).toMatchObject({ requestId: one.requestId });
    expect(whilePainting).toEqual(placesOf(one));
    expect(await copies()).toEqual([]);
  });

  test('are gone once a request failed', async () => {
    fixture.container.state.behaviour = says({ event: 'failed', reason: 'busy', message: '' });
    expect(await run(command(), fixture.deps)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(await copies()).toEqual([]);
  });

  test('are gone once its deadline passed, while the model still paints', async () => {
    const { deps, pass } = withDeadline(fixture.deps);
    // The run's deadline alone: a deletion after it has time of its own.
    const objects = {
      ...deps.objects,
      deleteReferences: (of: GenerationRef, count: number) =>
        fixture.deps.objects.deleteReferences(of, count, new AbortController().signal),
    };
    fixture.container.state.behaviour = () => pass();
    expect(await run(command(), { ...deps, objects })).toMatchObject({ code: 'TIMEOUT' });
    expect(await copies()).toEqual([]);
  });

  test('of a handler that died go with the sweep that ends its request', async () => {
    const one = command();
    await acceptGeneration(one, fixture.deps);
    expect(await copies()).toEqual(placesOf(one));
    await sweep({ ...fixture.deps, deletions: null }, Number.MAX_SAFE_INTEGER);
    expect(await copies()).toEqual([]);
  });

  test('are gone once another request took the credits in between', async () => {
    const one = command();
    one.license.creditsLimit = 3;
    const { generations } = fixture.deps;
    const reserve: typeof generations.reserve = async (...order) => {
      await fixture.deps.periods.importUsage(licenseId, order[0].periodStartMs, 2);
      return generations.reserve(...order);
    };
    await expect(
      run(one, { ...fixture.deps, generations: { ...generations, reserve } }),
    ).rejects.toMatchObject({
      code: 'CREDIT_LIMIT_EXCEEDED',
    });
    expect(await copies()).toEqual([]);
  });

  test('of two requests at once with one idempotency key: no more than those of the one that runs', async () => {
    const once = { idempotencyKeyHash: 'hash' };
    const [first, second] = [command(once), command({ ...once, keyId: `key_${'5a'.repeat(16)}` })];
    first.keyId = second.keyId;
    const accepted = await Promise.allSettled(
      [first, second].map((one) => acceptGeneration(one, fixture.deps)),
    );
    const running = accepted.findIndex(({ status }) => status === 'fulfilled');
    expect(accepted.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await copies()).toEqual(placesOf([first, second][running]!));
    await sweep({ ...fixture.deps, deletions: null }, Number.MAX_SAFE_INTEGER);
  });

  test('are made for no request that could not be paid, is not for its tier, or only asks', async () => {
    const poor = command();
    poor.license.creditsLimit = 1;
    await expect(run(poor, fixture.deps)).rejects.toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    const small = command();
    small.license.tier = 'starter';
    await expect(run(small, fixture.deps)).rejects.toMatchObject({ code: 'TIER_LIMIT' });
    expect(await dryRun(command(), fixture.deps)).toMatchObject({ answer: { accepted: true } });
    expect(await copies()).toEqual([]);
  });

  test('are made of none where one can not be used', async () => {
    const one = command();
    one.body.referenceImages = [{ uploadId }, { uploadId: newUploadId(fixture.clock.now()) }];
    await expect(run(one, fixture.deps)).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' });
    expect(await copies()).toEqual([]);
  });

  test('that can not be deleted take nothing from the answer, and the fault is told', async () => {
    const one = command();
    const { objects } = fixture.deps;
    const deleteReferences = () => Promise.reject(new Error('the bucket is away'));
    const outcome = await run(one, { ...fixture.deps, objects: { ...objects, deleteReferences } });
    expect(outcome).toMatchObject({ requestId: one.requestId, referenceImagesUsed: 0 });
    expect(fixture.faults.at(-1)).toMatchObject({ requestId: one.requestId });
    expect(await copies()).toEqual(placesOf(one));
    await objects.deleteReferences({ licenseId, requestId: one.requestId }, 2, AbortSignal.timeout(60_000));
  });
});

describe('when references can not be read, that is 503 and no fault of theirs', () => {
  const isUnavailable = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };
  const prepareWith = (changes: Partial<ReferenceDeps>) =>
    prepareReferences(ref(), [{ uploadId }], { ...fixture.deps, ...changes }, copied);

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
    const objects = { ...fixture.deps.objects, uploadLink: async () => 'http://127.0.0.1:9/' };
    await expect(prepareWith({ objects })).rejects.toMatchObject(isUnavailable);
  });

  test('the store does not take the copy', async () => {
    const { objects } = fixture.deps;
    const referencePutLink = async () => `${await objects.uploadLink({ licenseId, uploadId })}x`;
    await expect(prepareWith({ objects: { ...objects, referencePutLink } })).rejects.toMatchObject(
      isUnavailable,
    );
  });
});
