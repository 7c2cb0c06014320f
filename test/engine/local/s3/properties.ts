import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import * as fc from 'fast-check';
import { anyCharacter } from '../../../support/any-character.ts';
import { startProcess } from '../process.ts';
import { bucket, clientFor, credentials, region, send, type TestStore } from './support.ts';

// Each takes a count: the quick tests ask for few rounds, `test/long/s3.test.ts` for many.

const awkward =
  '|.|..| |a|%2F|%|%2e%2e|+|?|#|&x=1|\\|..\\..|C:|~|it\'s|<b>|"|ü|u\u0308|日本|😀|\u0000|\n|\r\n|\t|\uffee|*()!|a.png|;|,';
const segment = fc.oneof(
  fc.constantFrom(...awkward.split('|')),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
);
const anyKey = fc
  .array(segment, { minLength: 1, maxLength: 8 })
  .map((segments) => segments.join('/'))
  .filter((key) => key !== '' && Buffer.byteLength(key) <= 1024);

/** Any key keeps its object apart: what was put is got, listed under the key, and gone once it is deleted. */
export async function keepsAnyKey(store: TestStore, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(anyKey, (key) => roundTrip(store, key)),
    { numRuns: runs },
  );
}

export async function roundTrip(store: TestStore, Key: string): Promise<void> {
  await store.put(Key, `body of ${Key}`);
  const answer = await store.get(Key);
  expect(await answer.Body?.transformToString()).toBe(`body of ${Key}`);
  // The SDK takes blanks with a line break among them for the document's layout.
  const isLayout = Key.trim() === '' && Key.includes('\n');
  expect(await store.keys()).toContain(isLayout ? '' : Key);
  await store.remove(Key);
  await expect(store.get(Key)).rejects.toMatchObject({ name: 'NoSuchKey' });
}

/** No single changed character leaves a link working. */
export async function refusesChangedLinks({ url }: TestStore, link: string, runs: number): Promise<void> {
  const target = link.slice(url.length);
  const meaning = (path: string) => {
    const [key = '', query] = path.split('?');
    return JSON.stringify([decodeURIComponent(key), [...new URLSearchParams(query)].sort()]);
  };
  const characters = fc.constantFrom(...'abcfABCF0129-_.~&=;/');
  const position = fc.integer({ min: 1, max: target.length - 1 });
  await fc.assert(
    fc.asyncProperty(position, characters, async (at, character) => {
      const path = target.slice(0, at) + character + target.slice(at + 1);
      fc.pre(!/%(?![0-9a-fA-F]{2})/.test(path) && meaning(path) !== meaning(target));
      const { status } = await send(url, { path, headers: { host: new URL(url).host } });
      expect([400, 403]).toContain(status);
    }),
    { numRuns: runs },
  );
}

/** A store that is killed while it writes has the old object or the new one, whole. */
export async function survivesKills(store: TestStore, rounds: number): Promise<void> {
  const support = new URL('support.ts', import.meta.url).href;
  const options = { folder: store.folder, bucketName: bucket, credentials, region };
  const code = `const { startS3 } = await import(${JSON.stringify(support)});
    console.log((await startS3(${JSON.stringify(options)})).url);`;
  await store.client.putObject(generationOf(0));
  let last = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { url, kill } = await startProcess(code);
    const client = clientFor(url);
    // However slow the machine is, one write is acknowledged before the kill.
    await client.putObject(generationOf((last += 1)));
    const killed = sleep(Math.random() * 60).then(kill);
    while (await client.putObject(generationOf(last + 1)).catch(() => null)) last += 1;
    await killed;
    client.destroy();
    const { CacheControl, Body } = await store.get('crash');
    // What was acknowledged is there; the write that was cut off may have come through or not.
    expect([last, last + 1]).toContain(Number(CacheControl));
    last = Number(CacheControl);
    expect(generationOf(last).Body.equals(await Body!.transformToByteArray())).toBe(true);
  }
}

/** Every generation differs from the last in length and in every byte. A stored header holds its number. */
function generationOf(generation: number) {
  const Body = Buffer.alloc(1_000_000 + (generation % 7) * 1000, String(generation % 10));
  return { Bucket: bucket, Key: 'crash', CacheControl: String(generation), Body };
}
