import { rename } from 'node:fs/promises';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createObjectStore } from '../../../local/s3/server.ts';
import { presignPost, submit } from './post-form.ts';
import type { TestStore } from './support.ts';
import { bucket, credentials, region, send, sendSigned, startStore } from './support.ts';

let store: TestStore;
beforeAll(async () => void (store = await startStore()));
afterAll(() => store.close());

test('an error says what went wrong in the form that S3 uses, and never repeats a signature', async () => {
  const answer = await sendSigned(store.url, { path: `/${bucket}/a%20%26b` });
  expect(answer).toMatchObject({ status: 404, headers: { 'content-type': 'application/xml' } });
  const id = answer.headers['x-amz-request-id'];
  expect(id).toMatch(/^[0-9A-F]{16}$/);
  expect(answer.body.toString()).toBe(
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>NoSuchKey</Code>' +
      '<Message>The specified key does not exist.</Message><Key>a &amp;b</Key>' +
      `<Resource>/${bucket}/a%20%26b</Resource><RequestId>${id}</RequestId></Error>`,
  );
  const link = await getSignedUrl(store.client, new HeadObjectCommand({ Bucket: bucket, Key: 'x' }));
  const wrong = await (await fetch(link)).text();
  expect(wrong).toContain('SignatureDoesNotMatch');
  expect(wrong).not.toMatch(/[0-9a-f]{64}|X-Amz-/i);
});

test('the answer to HEAD has no body, an error neither', async () => {
  const answer = await sendSigned(store.url, { method: 'HEAD', path: `/${bucket}/nothing` });
  expect([answer.status, answer.body.length]).toEqual([404, 0]);
  expect((await send(store.url, { method: 'HEAD', path: `/${bucket}/nothing` })).status).toBe(403);
});

test('a page of an allowed origin may ask, upload and read; another may not', async () => {
  const origin = 'https://dashboard.example';
  const strict = await startStore({ allowedOrigins: [origin] });
  try {
    const preflight = (from: string, method: string) => {
      const headers = {
        origin: from,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      };
      return send(strict.url, { method: 'OPTIONS', path: `/${bucket}/x`, headers });
    };
    expect(await preflight(origin, 'PUT')).toMatchObject({
      status: 200,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': expect.stringContaining('PUT'),
        'access-control-allow-headers': 'content-type',
        vary: expect.stringContaining('Origin'),
      },
    });
    expect(await preflight('https://elsewhere.example', 'PUT')).toMatchObject({
      status: 403,
      code: 'AccessForbidden',
    });
    expect(await preflight(origin, 'PATCH')).toMatchObject({ status: 403 });
    expect(await send(strict.url, { method: 'OPTIONS', path: '/' })).toMatchObject({ status: 400 });
    const read = { path: `/${bucket}/x`, headers: { origin } };
    // The page must be able to read why it was refused.
    expect((await sendSigned(strict.url, read)).headers['access-control-allow-origin']).toBe(origin);
    const foreign = { path: `/${bucket}/x`, headers: { origin: 'https://elsewhere.example' } };
    expect((await sendSigned(strict.url, foreign)).headers['access-control-allow-origin']).toBeUndefined();
  } finally {
    await strict.close();
  }
});

test('by default a page of any origin may, with a form too', async () => {
  const headers = { origin: 'null', 'access-control-request-method': 'POST' };
  const answer = await send(store.url, { method: 'OPTIONS', path: `/${bucket}`, headers });
  expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': '*' } });
});

test('neither a request nor a refusal nor a fault writes a signature to a log', async () => {
  const logged: unknown[] = [];
  const spies = [
    ...(['log', 'info', 'warn', 'error', 'debug'] as const).map((name) => jest.spyOn(console, name)),
    jest.spyOn(process.stdout, 'write'),
    jest.spyOn(process.stderr, 'write'),
  ];
  for (const spy of spies) {
    spy.mockImplementation((...args: unknown[]) => {
      logged.push(args.map(String).join(' '));
      return true;
    });
  }
  // A store whose folder for uploads is gone fails by a fault of its own.
  const broken = await startStore();
  try {
    for (const { url, folder } of [store, broken]) {
      if (folder === broken.folder) await rename(`${folder}/.incoming`, `${folder}/moved`);
      const link = await getSignedUrl(store.client, new PutObjectCommand({ Bucket: bucket, Key: 'logged' }));
      await fetch(link, { method: 'PUT', body: 'x' });
      await fetch(link, { method: 'DELETE' });
      await submit(await presignPost(url, 'logged'), 'x');
      const faulty = await sendSigned(url, { method: 'PUT', path: `/${bucket}/logged`, body: 'x' });
      expect(faulty.status).toBe(folder === broken.folder ? 500 : 200);
    }
  } finally {
    for (const spy of spies) spy.mockRestore();
    await broken.close();
  }
  expect(logged.join('\n')).toContain('The object store failed on request');
  expect(logged.join('\n')).not.toMatch(/[0-9a-f]{64}|X-Amz-Signature|Authorization/i);
});

test('a bucket must have a name that is safe as a folder', async () => {
  for (const name of ['..', '.incoming', 'A', 'a/b', 'ab', '']) {
    const options = { folder: store.folder, buckets: [name], credentials, region };
    await expect(createObjectStore(options)).rejects.toThrow('no valid bucket name');
  }
});

test('the store tells the time by its own clock', async () => {
  store.advance(-86_400_000);
  try {
    const { headers } = await send(store.url, { path: '/' });
    expect(Math.abs(Date.parse(headers.date ?? '') - Date.now() + 86_400_000)).toBeLessThan(5000);
  } finally {
    store.advance(86_400_000);
  }
});
