import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import type { Api } from '../../../dashboard/src/api/client.ts';
import type { UploadOptions } from '../../../dashboard/src/api/generate.ts';
import {
  createReferenceStore,
  type ReferenceStore,
} from '../../../dashboard/src/screens/playground/references/reference-store.ts';
import { pngHeader } from '../../support/png.ts';

const to = { api: {} as Api, licenseId: 'lic_1' };
const never = new AbortController().signal;
const minuteMs = 60_000;

/** Uploads that a test ends. */
let asked: (UploadOptions & PromiseWithResolvers<string>)[];
let nowMs: number;
let store: ReferenceStore;

beforeEach(() => {
  asked = [];
  nowMs = 1_000_000;
  const upload = (_: Api, order: UploadOptions): Promise<string> => {
    const end = Promise.withResolvers<string>();
    asked.push({ ...order, ...end });
    order.signal.addEventListener('abort', () => end.reject(order.signal.reason));
    return end.promise;
  };
  store = createReferenceStore(upload, () => nowMs);
});

const png = (name: string): File => new File([pngHeader(100, 80)], name, { lastModified: 5 });
const svg = (name: string): File => new File(['<svg>'], name);
const items = () => store.state().items;
const names = () => items().map((item) => (item.kind === 'file' ? item.file.name : item.id && item.kind));
const uploadOf = (at: number) => {
  const item = items()[at];
  return item?.kind === 'file' ? item.upload : null;
};

/** Until the store has heard of an upload's end. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

async function addUploaded(...files: string[]): Promise<void> {
  await store.addFiles(files.map(png), to);
  asked.forEach(({ resolve }, i) => resolve(`upl_${i}`));
  await settled();
}

function addAddress(text: string): boolean {
  store.typeUrl(text);
  return store.addTypedUrl();
}

describe('adding', () => {
  test('starts the upload at once, with the type of its bytes, and reports progress', async () => {
    await store.addFiles([png('cup.jpg')], to);
    expect(asked).toMatchObject([{ licenseId: 'lic_1', contentType: 'image/png' }]);
    asked[0]!.onProgress(0.4);
    expect(uploadOf(0)).toEqual({ status: 'sending', share: 0.4 });
    asked[0]!.resolve('upl_1');
    await settled();
    expect(store.state().announcement).toBe('cup.jpg is uploaded.');
  });

  test('takes no address where four images are, until one is removed', async () => {
    await store.addFiles(['a', 'b', 'c', 'd'].map(png), to);
    expect(addAddress('https://shop.example/cup.jpg')).toBe(false);
    expect(store.state().urlProblem).toMatch(/^At most 4/);
    store.remove(items()[0]!.id);
    expect(store.addTypedUrl()).toBe(true);
    expect(names()).toEqual(['b', 'c', 'd', 'url']);
  });

  test('of a whole folder inspects a few files and says that the others are left out', async () => {
    const files = Array.from({ length: 300 }, (_, i) => svg(`${i}.svg`));
    await store.addFiles(files, to);
    expect(items()).toHaveLength(4);
    expect(store.state().note).toBe('296 files were left out.');
  });

  test('takes the same file or address once', async () => {
    await store.addFiles([png('cup')], to);
    await store.addFiles([png('cup')], to);
    expect(names()).toEqual(['cup']);
    expect(store.state().announcement).toBe('1 file is there already.');
    const address = ' https://shop.example/cup.jpg ';
    expect([addAddress(address), addAddress(address)]).toEqual([true, false]);
    expect(store.state().urlProblem).toBe('This address is there already.');
  });
});

describe('uploads', () => {
  test('are awaited, and a request has them in their order', async () => {
    await store.addFiles([png('a'), png('b')], to);
    addAddress('https://shop.example/c.jpg');
    expect(store.bodies('lic_1')).toBeNull();
    const ready = store.ready(items(), to, never);
    asked[1]!.resolve('upl_b');
    asked[0]!.resolve('upl_a');
    const expected = [{ uploadId: 'upl_a' }, { uploadId: 'upl_b' }, { url: 'https://shop.example/c.jpg' }];
    expect(await ready).toEqual(expected);
    expect(store.bodies('lic_1')).toEqual(expected);
    expect(asked).toHaveLength(2);
  });

  test('are made once, and again when they have expired', async () => {
    await addUploaded('cup');
    nowMs += 50 * minuteMs;
    expect(await store.ready(items(), to, never)).toEqual([{ uploadId: 'upl_0' }]);
    nowMs += 10 * minuteMs;
    expect(store.bodies('lic_1')).toBeNull();
    const ready = store.ready(items(), to, never);
    expect(asked).toHaveLength(2);
    asked[1]!.resolve('upl_new');
    expect(await ready).toEqual([{ uploadId: 'upl_new' }]);
  });

  test('belong to a license: another one gets its own, and one that still runs is stopped', async () => {
    await store.addFiles([png('cup')], to);
    const ready = store.ready(items(), { ...to, licenseId: 'lic_2' }, never);
    expect(asked.map(({ licenseId, signal }) => [licenseId, signal.aborted])).toEqual([
      ['lic_1', true],
      ['lic_2', false],
    ]);
    asked[1]!.resolve('upl_2');
    expect(await ready).toEqual([{ uploadId: 'upl_2' }]);
    expect(uploadOf(0)).toMatchObject({ status: 'done', licenseId: 'lic_2' });
  });

  test('that fail for the program’s own fault say only that, and a request that fails has the reason', async () => {
    await store.addFiles([png('cup')], to);
    asked[0]!.reject(new Error('of the program'));
    await settled();
    expect(uploadOf(0)).toEqual({ status: 'failed', message: 'It could not be uploaded.' });
    const ready = store.ready(items(), to, never);
    const limited = { status: 429, code: 'RATE_LIMITED', retryAfterSeconds: 9 };
    asked[1]!.reject(new ApiError('Too many.', limited));
    const message = 'cup could not be uploaded. Too many.';
    await expect(ready).rejects.toMatchObject({ ...limited, message });
  });

  test('stop when their image is removed, and so does the request that waits for them', async () => {
    await store.addFiles([png('cup')], to);
    const ready = store.ready(items(), to, never);
    store.remove(items()[0]!.id);
    expect(asked[0]!.signal.aborted).toBe(true);
    await expect(ready).rejects.toBeInstanceOf(ApiError);
    expect(store.state()).toMatchObject({ items: [], announcement: 'cup is removed. 0 of 4 images.' });
  });

  test('go on when the request is aborted', async () => {
    await store.addFiles([png('cup')], to);
    const stop = new AbortController();
    const ready = store.ready(items(), to, stop.signal);
    stop.abort(new Error('left'));
    await expect(ready).rejects.toThrow('left');
    expect(asked[0]!.signal.aborted).toBe(false);
  });
});

test('what the service refuses is shown at its image alone, and the next request uploads it again', async () => {
  await addUploaded('a', 'b', 'c');
  const sent = items();
  const problems = () => items().map(({ problem }) => problem);
  store.remove(sent[0]!.id);
  store.refuse(sent, new Map().set(0, 'Must be whole.').set(2, 'Must be undamaged.'));
  expect(problems()).toEqual([null, 'Must be undamaged.']);
  const again = store.clearProblems();
  expect(problems()).toEqual([null, null]);
  void store.ready(again, to, never);
  expect(asked.slice(3).map(({ file }) => file.name)).toEqual(['c']);
});

test('the images of an earlier request are restored, and only expired uploads are made again', async () => {
  await addUploaded('a');
  const former = store.latest(items());
  store.remove(former[0]!.id);
  await store.addFiles([png('b')], to);
  store.replace(former, to);
  expect(names()).toEqual(['a']);
  expect(asked[1]!.signal.aborted).toBe(true);
  expect(asked).toHaveLength(2);
  nowMs += 60 * minuteMs;
  store.replace(former, to);
  expect(asked).toHaveLength(3);
});
