import { createHash, randomUUID } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Digests } from './payload.ts';

/*
 * One object is one file: its bytes, then its metadata as JSON, then the length of that JSON and a mark. It is
 * written under another name and renamed when whole, so data and metadata appear together or not at all. The file is
 * named by the SHA-256 of the key: whatever the key says, it names no other place on the disk.
 *
 * Metadata is read and files are renamed synchronously. Both take some microseconds, and in between nothing else in
 * the process can run, which is what makes a conditional write and the listing's index exact.
 */

export interface StoredObject extends Digests {
  key: string;
  /** ISO 8601. */
  lastModified: string;
  /** What a GET answers as it was given: content-type, cache-control, …, x-amz-meta-*. */
  headers: Record<string, string>;
}

export interface OpenObject {
  object: StoredObject;
  /** The bytes from `start` to `end`, both included. Closes the object at its end. */
  read(start: number, end: number): Readable;
  close(): void;
}

export interface Attributes {
  headers: Record<string, string>;
  lastModified: Date;
}

/** Writes the bytes and returns what they were; whatever it throws leaves the store as it was. */
export type Fill = (write: (piece: Buffer) => Promise<void>) => Promise<Digests>;

export interface Store {
  has(bucket: string): boolean;
  head(bucket: string, key: string): StoredObject | undefined;
  open(bucket: string, key: string): OpenObject | undefined;
  /** @param allow is asked last, with what the key holds at that very moment; it throws to refuse. */
  put(
    bucket: string,
    key: string,
    attributes: Attributes,
    fill: Fill,
    allow?: (current: StoredObject | undefined) => void,
  ): Promise<StoredObject>;
  remove(bucket: string, key: string): void;
  /** Every object, in the order of the keys' UTF-8 bytes. */
  list(bucket: string): readonly StoredObject[];
}

interface Index {
  objects: Map<string, StoredObject>;
  sorted: StoredObject[] | undefined;
}

const mark = Buffer.from('S3OBJv1\n');
const footerBytes = 4 + mark.length;
/** Small writes are gathered up to this, since each one is a trip to the thread pool. */
const writeBytes = 1024 * 1024;
const incomingFolder = '.incoming';

/** Opens the folder, which one process at a time may have, and clears what a crash left half-written. */
export function openStore(folder: string, buckets: string[]): Store {
  const incoming = join(folder, incomingFolder);
  rmSync(incoming, { recursive: true, force: true });
  for (const name of [incomingFolder, ...buckets]) mkdirSync(join(folder, name), { recursive: true });
  const indexes = createIndexes(folder);
  const pathOf = (bucket: string, key: string) =>
    join(folder, bucket, createHash('sha256').update(key).digest('hex'));

  return {
    has: (bucket) => buckets.includes(bucket),
    head: (bucket, key) => readMetadata(pathOf(bucket, key)),
    open: (bucket, key) => openObject(pathOf(bucket, key)),
    async put(bucket, key, attributes, fill, allow) {
      const temporary = join(incoming, randomUUID());
      try {
        const object = await writeObject(temporary, key, attributes, fill);
        allow?.(readMetadata(pathOf(bucket, key)));
        renameSync(temporary, pathOf(bucket, key));
        indexes.note(bucket, key, object);
        return object;
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    remove(bucket, key) {
      rmSync(pathOf(bucket, key), { force: true });
      indexes.note(bucket, key, undefined);
    },
    list: indexes.sorted,
  };
}

/** What each bucket holds, read from the disk when it is first listed and kept up to date from then on. */
function createIndexes(folder: string) {
  const indexes = new Map<string, Index>();
  return {
    sorted(bucket: string): readonly StoredObject[] {
      const index = indexes.get(bucket) ?? { objects: readFolder(join(folder, bucket)), sorted: undefined };
      indexes.set(bucket, index);
      index.sorted ??= sortByKey([...index.objects.values()]);
      return index.sorted;
    },
    note(bucket: string, key: string, object: StoredObject | undefined): void {
      const index = indexes.get(bucket);
      if (!index) return;
      if (object) index.objects.set(key, object);
      else index.objects.delete(key);
      index.sorted = undefined;
    },
  };
}

async function writeObject(
  path: string,
  key: string,
  attributes: Attributes,
  fill: Fill,
): Promise<StoredObject> {
  const file = await open(path, 'wx');
  try {
    const writer = createWriter(file);
    const digests = await fill(writer.write);
    const lastModified = attributes.lastModified.toISOString();
    const object: StoredObject = { key, ...digests, lastModified, headers: attributes.headers };
    const json = Buffer.from(JSON.stringify(object));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    await writer.write(Buffer.concat([json, length, mark]));
    await writer.flush();
    return object;
  } finally {
    await file.close();
  }
}

function createWriter(file: FileHandle) {
  let held: Buffer[] = [];
  let heldBytes = 0;
  async function flush(): Promise<void> {
    const pieces = held;
    const expected = heldBytes;
    held = [];
    heldBytes = 0;
    if (pieces.length === 0) return;
    const { bytesWritten } = await file.writev(pieces);
    // The kernel may stop short, for example when the disk is full; a rename must never follow that.
    if (bytesWritten !== expected)
      throw new Error(`Only ${bytesWritten} of ${expected} bytes could be written.`);
  }
  return {
    flush,
    async write(piece: Buffer): Promise<void> {
      held.push(piece);
      heldBytes += piece.length;
      if (heldBytes >= writeBytes) await flush();
    },
  };
}

function openObject(path: string): OpenObject | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  const object = parseMetadata(file);
  if (!object) {
    closeSync(file);
    return undefined;
  }
  return {
    object,
    read: (start, end) => createReadStream('', { fd: file, start, end, highWaterMark: writeBytes }),
    close: () => closeSync(file),
  };
}

function readMetadata(path: string): StoredObject | undefined {
  const file = openIfThere(path);
  if (file === undefined) return undefined;
  try {
    return parseMetadata(file);
  } finally {
    closeSync(file);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined for a file that is not whole, as a power failure may leave one: such an object is absent, never half. */
function parseMetadata(file: number): StoredObject | undefined {
  const { size: fileBytes } = fstatSync(file);
  if (fileBytes < footerBytes) return undefined;
  const footer = readAt(file, fileBytes - footerBytes, footerBytes);
  const jsonBytes = footer.readUInt32BE(0);
  const dataBytes = fileBytes - footerBytes - jsonBytes;
  if (!footer.subarray(4).equals(mark) || dataBytes < 0) return undefined;
  const object = JSON.parse(readAt(file, dataBytes, jsonBytes).toString()) as StoredObject;
  return object.size === dataBytes ? object : undefined;
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(file, bytes, read, length - read, position + read);
    if (count === 0) throw new Error('A stored object ended before its metadata.');
    read += count;
  }
  return bytes;
}

function readFolder(folder: string): Map<string, StoredObject> {
  const objects = readdirSync(folder).map((name) => readMetadata(join(folder, name)));
  return new Map(objects.filter((object) => object !== undefined).map((object) => [object.key, object]));
}

/** JavaScript compares UTF-16, which puts U+E000–U+FFFF after the characters beyond them; S3 compares bytes. */
function sortByKey(objects: StoredObject[]): StoredObject[] {
  const keyed = objects.map((object) => ({ object, bytes: Buffer.from(object.key) }));
  return keyed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ object }) => object);
}
