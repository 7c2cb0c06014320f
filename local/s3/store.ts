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
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Digests } from './payload.ts';

/*
 * One object is one file: its bytes, then its metadata as JSON, then the length of that JSON and a mark. It is
 * written under another name and renamed when whole, so data and metadata appear together or not at all. The file is
 * named by the SHA-256 of the key: whatever the key says, it names no other place on the disk.
 */

export interface StoredObject extends Digests {
  key: string;
  /** ISO 8601. */
  lastModified: string;
  /** What a GET answers as it was given: content-type, cache-control, … */
  headers: Record<string, string>;
}

export interface OpenObject {
  object: StoredObject;
  /** The bytes. The object stays open until they are read, their stream is destroyed or it is closed. */
  read(): Readable;
  close(): void;
}

export interface Attributes {
  headers: Record<string, string>;
  lastModified: Date;
}

/** Writes the bytes and returns their digests. When it throws, the store stays as it was. */
export type Fill = (write: (piece: Buffer) => Promise<void>) => Promise<Digests>;

export interface Store {
  head(key: string): StoredObject | undefined;
  open(key: string): OpenObject | undefined;
  put(key: string, attributes: Attributes, fill: Fill): Promise<StoredObject>;
  remove(key: string): void;
  /** Every object, in the order of the keys' UTF-8 bytes. */
  list(): StoredObject[];
}

const mark = Buffer.from('S3OBJv1\n');
const footerBytes = 4 + mark.length;
const readBytes = 1024 * 1024;
const incomingFolder = '.incoming';

/** Opens the folder, which one process at a time may have, and clears what a crash left half-written. */
export function openStore(folder: string, bucketName: string): Store {
  const incoming = join(folder, incomingFolder);
  rmSync(incoming, { recursive: true, force: true });
  const bucket = join(folder, bucketName);
  for (const path of [incoming, bucket]) mkdirSync(path, { recursive: true });
  const pathOf = (key: string) => join(bucket, createHash('sha256').update(key).digest('hex'));

  return {
    head: (key) => readMetadata(pathOf(key)),
    open: (key) => openObject(pathOf(key)),
    async put(key, attributes, fill) {
      const temporary = join(incoming, randomUUID());
      try {
        const object = await writeObject(temporary, key, attributes, fill);
        renameSync(temporary, pathOf(key));
        return object;
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    remove: (key) => rmSync(pathOf(key), { force: true }),
    list: () => readFolder(bucket),
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
    const digests = await fill((piece) => file.appendFile(piece));
    const lastModified = attributes.lastModified.toISOString();
    const object: StoredObject = { key, ...digests, lastModified, headers: attributes.headers };
    const json = Buffer.from(JSON.stringify(object));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    await file.appendFile(Buffer.concat([json, length, mark]));
    return object;
  } finally {
    await file.close();
  }
}

function openObject(path: string): OpenObject | undefined {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const close = () => closeSync(file);
  const object = parseMetadata(file);
  if (!object) return void close();
  return {
    object,
    close,
    read() {
      if (object.size > 0) {
        return createReadStream('', { fd: file, start: 0, end: object.size - 1, highWaterMark: readBytes });
      }
      close();
      return Readable.from([]);
    },
  };
}

function readMetadata(path: string): StoredObject | undefined {
  const opened = openObject(path);
  opened?.close();
  return opened?.object;
}

/** Undefined for an incomplete file, as a power failure may leave one: it counts as no object. */
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

/** JavaScript compares UTF-16, which puts U+E000–U+FFFF after the characters beyond them; S3 compares bytes. */
function readFolder(folder: string): StoredObject[] {
  return readdirSync(folder)
    .map((name) => readMetadata(join(folder, name)))
    .filter((object) => object !== undefined)
    .sort((a, b) => Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
}
