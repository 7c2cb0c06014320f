import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { TestStore } from './support.ts';
import { bucket, clientFor, startStore } from './support.ts';

let store: TestStore;
beforeAll(async () => void (store = await startStore()));
afterAll(() => store.close());

test('objects, their metadata and their listing survive a restart', async () => {
  const headers = { ContentType: 'image/png', Metadata: { seed: '7' } };
  for (const Key of ['b', 'a']) {
    await store.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body: `body ${Key}`, ...headers }));
  }
  const list = () => store.client.send(new ListObjectsV2Command({ Bucket: bucket }));
  const before = await list();
  await store.restart();
  expect((await list()).Contents).toEqual(before.Contents);
  const answer = await store.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'a' }));
  expect(answer).toMatchObject({ ...headers, ETag: before.Contents?.[0]?.ETag });
  expect(await answer.Body?.transformToString()).toBe('body a');
});

test('what a crash left half-written is cleared at the next start', async () => {
  const leftover = join(store.folder, '.incoming', 'leftover');
  await writeFile(leftover, 'half an ima');
  await store.restart();
  expect(await store.files()).not.toContain(leftover);
});

test('a file that lost a part is no object rather than half of one', async () => {
  const target = { Bucket: bucket, Key: 'cut' };
  const before = await store.files();
  await store.client.send(new PutObjectCommand({ ...target, Body: Buffer.alloc(5000, 'x') }));
  const [file = ''] = (await store.files()).filter((name) => !before.includes(name));
  const whole = await readFile(file);
  const damages = [
    () => writeFile(file, whole.subarray(1)),
    ...[4000, 5, 0].map((length) => () => truncate(file, length)),
  ];
  for (const damage of damages) {
    await damage();
    await store.restart();
    await expect(store.client.send(new GetObjectCommand(target))).rejects.toMatchObject({
      name: 'NoSuchKey',
    });
    const { Contents = [] } = await store.client.send(new ListObjectsV2Command({ Bucket: bucket }));
    expect(Contents.map(({ Key }) => Key)).not.toContain('cut');
  }
  await store.client.send(new PutObjectCommand({ ...target, Body: 'whole again' }));
  expect((await store.client.send(new GetObjectCommand(target))).ContentLength).toBe(11);
});

async function startProcess(folder: string): Promise<{ child: ChildProcess; url: string }> {
  const script = join(import.meta.dirname, 'store-process.ts');
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { child, url: line.toString().trim() };
}

/** Writes one generation after another until the process is killed; returns the last that was acknowledged. */
async function writeUntilKilled(url: string, child: ChildProcess, first: number): Promise<number> {
  const client = clientFor(url);
  let acknowledged = first - 1;
  let killed: Promise<unknown> = Promise.resolve();
  try {
    for (let generation = first; ; generation += 1) {
      // However slow the machine is, one write was acknowledged before.
      if (generation === first + 1) {
        killed = sleep(Math.random() * 60).then(() => child.kill('SIGKILL'));
      }
      const headers = { Bucket: bucket, Key: 'crash', Metadata: { generation: String(generation) } };
      await client.send(new PutObjectCommand({ ...headers, Body: bodyOf(generation) }));
      acknowledged = generation;
    }
  } catch {
    // The process is gone, in the middle of a write as often as not.
  }
  await killed;
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  client.destroy();
  return acknowledged;
}

/** Every generation differs from the last in length and in every byte. */
const bodyOf = (generation: number) =>
  Buffer.alloc(1_000_000 + (generation % 7) * 1000, String(generation % 10));

test('a store killed while it writes has the old object or the new one, whole', async () => {
  await store.client.send(
    new PutObjectCommand({ Bucket: bucket, Key: 'crash', Body: bodyOf(0), Metadata: { generation: '0' } }),
  );
  let last = 0;
  for (let round = 0; round < 6; round += 1) {
    const { child, url } = await startProcess(store.folder);
    const acknowledged = await writeUntilKilled(url, child, last + 1);
    const answer = await store.client.send(new GetObjectCommand({ Bucket: bucket, Key: 'crash' }));
    const generation = Number(answer.Metadata?.['generation']);
    // What was acknowledged is there; the write that was cut off may have come through or not.
    expect([acknowledged, acknowledged + 1]).toContain(generation);
    const bytes = (await answer.Body?.transformToByteArray()) ?? Buffer.alloc(0);
    expect(bodyOf(generation).equals(bytes)).toBe(true);
    last = generation;
  }
  expect(last).toBeGreaterThan(0);
}, 60_000);
