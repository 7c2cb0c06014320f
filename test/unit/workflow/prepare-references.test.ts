import { expect, test } from '@jest/globals';
import type { ObjectStore } from '../../../shared/adapters/object-store.ts';
import type { ReferenceItem } from '../../../shared/contracts/generation.ts';
import type { FetchReferencesCommand } from '../../../shared/contracts/reference-images.ts';
import { newUploadId } from '../../../shared/domain/upload.ts';
import { prepareReferences } from '../../../shared/workflow/prepare-references.ts';
import { standingClock, startMs } from './world.ts';

const hourMs = 3600 * 1000;
const objects = {
  referencePutLink: (of: { requestId: string; licenseId: string }, i: number) =>
    Promise.resolve(`put ${of.licenseId}/${of.requestId}/${i}`),
  uploadLink: (of: { licenseId: string; uploadId: string }) =>
    Promise.resolve(`get ${of.licenseId}/${of.uploadId}`),
} as unknown as ObjectStore;

/** @returns what the fetcher was asked for, and the error, or null. */
async function prepare(
  items: ReferenceItem[],
  found: (string | null)[] = items.map(() => null),
  copyReferences = true,
) {
  const asked: FetchReferencesCommand[] = [];
  const references = {
    fetch(command: FetchReferencesCommand) {
      asked.push(command);
      return Promise.resolve(found);
    },
  };
  const of = { requestId: 'r1', licenseId: 'lic_1' };
  const deps = { objects, references, clock: standingClock() };
  const error: any = await prepareReferences(of, items, deps, { copyReferences }).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { asked, error };
}

const url = (i: number) => ({ url: `https://a.example/${i}.png` });
const upload = (openedAtMs: number) => ({ uploadId: newUploadId(openedAtMs) });

test('each reference is fetched into its own place of the request, a url or an upload of the license', async () => {
  const late = upload(startMs - hourMs + 1);
  const { asked, error } = await prepare([url(0), late]);
  expect(error).toBeNull();
  expect(asked).toEqual([
    {
      requestId: 'r1',
      items: [
        { kind: 'url', url: url(0).url, putLink: 'put lic_1/r1/0' },
        { kind: 'upload', getLink: `get lic_1/${late.uploadId}`, putLink: 'put lic_1/r1/1' },
      ],
    },
  ]);
});

test('references that are only looked at have no place to be stored', async () => {
  const sent = upload(startMs - 1);
  const { asked } = await prepare([url(0), sent], [null, null], false);
  expect(asked[0]!.items).toEqual([
    { kind: 'url', url: url(0).url, putLink: null },
    { kind: 'upload', getLink: `get lic_1/${sent.uploadId}`, putLink: null },
  ]);
});

test('without references nobody is asked', async () => {
  expect(await prepare([])).toEqual({ asked: [], error: null });
});

test('all that can not be used is named in its place, whoever found out', async () => {
  const items = [url(0), { uploadId: 'upl_x' }, url(2), upload(startMs - hourMs), url(4)];
  const { asked, error } = await prepare(items, ['is away', null, 'is a GIF']);
  const places = [0, 2, 4].map((place) => `put lic_1/r1/${place}`);
  expect(asked[0]!.items.map(({ putLink }) => putLink)).toEqual(places);
  expect(error).toMatchObject({
    code: 'INVALID_PARAMETERS',
    message: [
      'referenceImages[0].url: is away.',
      'referenceImages[1].uploadId: is not an upload of this license.',
      'referenceImages[3].uploadId: was opened more than an hour ago: open another with POST /uploads.',
      'referenceImages[4].url: is a GIF.',
    ].join(' '),
  });
});

test('where no upload can be one, nothing is fetched', async () => {
  const { asked, error } = await prepare([{ uploadId: 'x' }]);
  expect([asked, error.code]).toEqual([[], 'INVALID_PARAMETERS']);
});
