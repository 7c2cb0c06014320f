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
const other = { ...to, licenseId: 'lic_2' };
const never = new AbortController().signal;
const minuteMs = 60_000;

/** An upload that a test ends. */
interface Asked extends UploadOptions {
  done: (uploadId: string) => void;
  fail: (error: unknown) => void;
}

let asked: Asked[];
let nowMs: number;
let store: ReferenceStore;

beforeEach(() => {
  asked = [];
  nowMs = 1_000_000;
  const upload = (_: Api, order: UploadOptions): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    asked.push({ ...order, done: resolve, fail: reject });
    order.signal.addEventListener('abort', () => reject(order.signal.reason));
    return promise;
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

/** Ends the newest upload, and waits until the store has heard of it. */
async function end(how: (upload: Asked) => void): Promise<void> {
  how(asked.at(-1)!);
  await new Promise((resolve) => setTimeout(resolve));
}

async function addUploaded(...files: string[]): Promise<void> {
  await store.addFiles(files.map(png), to);
  await end(() => asked.forEach(({ done }, i) => done(`upl_${i}`)));
}

function addAddress(text: string): boolean {
  store.typeUrl(text);
  return store.addTypedUrl();
}

describe('adding', () => {
  test('starts the upload at once, with the type of its bytes, and reports progress', async () => {
    await store.addFiles([png('cup.jpg')], to);
    expect(asked).toMatchObject([{ licenseId: 'lic_1', contentType: 'image/png' }]);
    expect(uploadOf(0)).toEqual({ status: 'sending', share: 0 });
    asked[0]!.onProgress(0.4);
    expect(uploadOf(0)).toEqual({ status: 'sending', share: 0.4 });
    await end(({ done }) => done('upl_1'));
    expect(uploadOf(0)).toMatchObject({ status: 'done', uploadId: 'upl_1' });
    expect(store.state().announcement).toBe('cup.jpg is uploaded.');
  });

  test('takes four at most and says how many are left out, by file and by address', async () => {
    await store.addFiles(['a', 'b', 'c', 'd', 'e', 'f'].map(png), to);
    expect(names()).toEqual(['a', 'b', 'c', 'd']);
    expect(asked).toHaveLength(4);
    expect(store.state().note).toBe('At most 4 images: 2 files were left out.');
    expect(addAddress('https://shop.example/cup.jpg')).toBe(false);
    expect(store.state().urlProblem).toMatch(/^At most 4/);
    store.remove(items()[0]!.id);
    expect(store.state().note).toBeNull();
    expect(store.addTypedUrl()).toBe(true);
    expect(names()).toEqual(['b', 'c', 'd', 'url']);
  });

  test('names a file that can’t be used without sending it, until the next change', async () => {
    await store.addFiles([svg('logo.svg'), png('cup')], to);
    expect(asked.map(({ file }) => file.name)).toEqual(['cup']);
    const problem = expect.stringMatching(/^SVG/);
    expect(items()[1]).toMatchObject({ kind: 'refused', name: 'logo.svg', problem });
    expect(store.state().announcement).toMatch(/^Added: cup. logo.svg is not used. SVG/);
    await store.addFiles([png('pot')], to);
    expect(names()).toEqual(['cup', 'pot']);
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

  test('an invalid address stays in the field and has an error', () => {
    const urlText = 'http://shop.example';
    expect(addAddress(urlText)).toBe(false);
    expect(store.state()).toMatchObject({ urlText, urlProblem: expect.any(String), items: [] });
    expect(addAddress('')).toBe(true);
    expect(store.state().urlProblem).toBeNull();
  });
});

describe('uploads', () => {
  test('are awaited, and a request has them in their order', async () => {
    await store.addFiles([png('a'), png('b')], to);
    addAddress('https://shop.example/c.jpg');
    expect(store.bodies('lic_1')).toBeNull();
    const ready = store.ready(items(), to, never);
    asked[1]!.done('upl_b');
    asked[0]!.done('upl_a');
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
    asked[1]!.done('upl_new');
    expect(await ready).toEqual([{ uploadId: 'upl_new' }]);
  });

  test('belong to a license: another one gets its own', async () => {
    await addUploaded('cup');
    const ready = store.ready(items(), other, never);
    expect(asked[1]).toMatchObject({ licenseId: 'lic_2' });
    asked[1]!.done('upl_2');
    expect(await ready).toEqual([{ uploadId: 'upl_2' }]);
  });

  test('that run for another license are stopped', async () => {
    await store.addFiles([png('cup')], to);
    void store.ready(items(), other, never);
    expect(asked.map(({ licenseId }) => licenseId)).toEqual(['lic_1', 'lic_2']);
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true, false]);
    await end(({ done }) => done('upl_2'));
    expect(uploadOf(0)).toMatchObject({ status: 'done', licenseId: 'lic_2' });
  });

  test('that fail say why, and are retried by a button or by the next request', async () => {
    await store.addFiles([png('cup')], to);
    const broken = new ApiError('The connection broke.', { status: 0, code: 'NETWORK' });
    await end(({ fail }) => fail(broken));
    expect(uploadOf(0)).toEqual({ status: 'failed', message: 'The connection broke.' });
    store.retry(items()[0]!.id, to);
    await end(({ fail }) => fail(new Error('of the program')));
    expect(uploadOf(0)).toEqual({ status: 'failed', message: 'It could not be uploaded.' });
    const ready = store.ready(items(), to, never);
    const limited = { code: 'RATE_LIMITED', retryAfterSeconds: 9 };
    asked[2]!.fail(new ApiError('Too many.', { status: 429, ...limited }));
    const message = 'cup could not be uploaded. Too many.';
    await expect(ready).rejects.toMatchObject({ message, ...limited });
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

describe('what the service refuses', () => {
  test('is shown at its image, and the next request uploads it again', async () => {
    await addUploaded('a', 'b');
    store.refuse(items(), new Map([[1, 'Must be undamaged.']]));
    expect(items().map(({ problem }) => problem)).toEqual([null, 'Must be undamaged.']);
    const sent = store.clearProblems();
    expect(sent.map(({ problem }) => problem)).toEqual([null, null]);
    void store.ready(sent, to, never);
    expect(asked.slice(2).map(({ file }) => file.name)).toEqual(['b']);
  });

  test('is not shown at another image that has the same place now', async () => {
    await addUploaded('a', 'b');
    const sent = items();
    store.remove(sent[0]!.id);
    store.refuse(sent, new Map([[0, 'Must be whole.']]));
    expect(items().map(({ problem }) => problem)).toEqual([null]);
  });
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
