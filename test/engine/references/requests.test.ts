import { createServer } from 'node:http';
import { S3 } from '@aws-sdk/client-s3';
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { listen } from '../../../local/http/server.ts';
import { invocationPath } from '../../../local/lambda/engine.ts';
import { referenceFetcherClient } from '../../../shared/references/reader-client.ts';
import { uploadForms } from '../../../shared/images/upload-forms.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { newUploadId } from '../../../shared/images/upload.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import type { GenerationCommand } from '../../../shared/generations/decide.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import { prepareReferences, type ReferenceDeps } from '../../../shared/references/prepare-references.ts';
import { sweep } from '../../../shared/generations/sweep.ts';
import { samplePhoto, sendFile } from '../../support/uploads.ts';
import { useEngines } from '../generations/use-engines.ts';
import { identity, newCommand, deliver, run } from '../generations/fixture.ts';

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

test('a reference lies where the model looks for it, as a picture, and the link to store it lives for seconds', async () => {
  const { deps } = fixture;
  const of = ref();
  await prepareReferences(of, [{ uploadId }], deps, copied);
  const link = new URL(await deps.objects.referencePutLink(of, 0));
  expect(Number(link.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(15);
  const copy = await fetch(await deps.objects.referenceLink(of, 0, 60));
  expect([copy.status, copy.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(Buffer.from(await copy.arrayBuffer()).toString('latin1', 1, 4)).toBe('PNG');
  await deps.objects.deleteReferences(of, 1, AbortSignal.timeout(60_000));
  expect((await fetch(await deps.objects.referenceLink(of, 0, 60))).status).toBe(404);
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

  test('lie below the prefix of references while the model generates, and are gone with the answer', async () => {
    const one = command();
    let whileGenerating: string[] = [];
    fixture.container.state.behaviour = async (request, res) => {
      whileGenerating = await copies();
      await deliver(request, res);
    };
    expect(await run(one, fixture.deps)).toMatchObject({ requestId: one.requestId });
    expect(whileGenerating).toEqual(placesOf(one));
    expect(await copies()).toEqual([]);
  });

  test('of a handler that died go with the sweep that ends its request', async () => {
    const one = command();
    await acceptGeneration(one, fixture.deps);
    expect(await copies()).toEqual(placesOf(one));
    await sweep({ ...fixture.deps, deletions: null }, Number.MAX_SAFE_INTEGER);
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
});

describe('when references can not be read, that is 503 and no fault of theirs', () => {
  const isUnavailable = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };
  const prepareWith = (changes: Partial<ReferenceDeps>) =>
    prepareReferences(ref(), [{ uploadId }], { ...fixture.deps, ...changes }, copied);

  test.each([
    ['it is throttled', 429, {}, '{"Type":"User"}'],
    ['it failed', 200, { 'x-amz-function-error': 'Unhandled' }, '{"problems":[null]}'],
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
    await expect(prepareWith({ references })).rejects.toMatchObject({
      ...isUnavailable,
      noFault: status === 429,
    });
    await fetcher.close();
  });

  test.each<[string, () => Partial<ReferenceDeps>]>([
    ['nobody listens', () => ({ references: referenceFetcherClient('http://127.0.0.1:9/') })],
    [
      'the store is away while they are read',
      () => objectsWith({ uploadLink: async () => 'http://127.0.0.1:9/' }),
    ],
    [
      'the store does not take the copy',
      () => objectsWith({ referencePutLink: async () => `${await uploadLink()}x` }),
    ],
  ])('%s', async (_what, changes) => {
    await expect(prepareWith(changes())).rejects.toMatchObject(isUnavailable);
  });

  const uploadLink = () => fixture.deps.objects.uploadLink({ licenseId, uploadId });
  const objectsWith = (changes: Partial<ReferenceDeps['objects']>) => ({
    objects: { ...fixture.deps.objects, ...changes },
  });
});
