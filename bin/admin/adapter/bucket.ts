import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  NotFound,
  S3Client,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3';
import type { AdapterFile } from './file.ts';
import { Failure } from '../../common/failure.ts';

const partBytes = 16 * 1024 * 1024;
/** In memory at a time. */
const maxPartsOnTheWay = 4;

/** Lower-case hex. */
export async function sha256Of(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest('hex');
}

export const sha256OfFile = (path: string) => sha256Of(createReadStream(path, { highWaterMark: 1024 ** 2 }));

/** Where the files of adapters lie. */
export function adapterBucket(bucket: string) {
  const client = new S3Client({});

  const sizeOf = async (Key: string): Promise<number | null> => {
    try {
      const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key }));
      return ContentLength ?? null;
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };

  return {
    /** @throws Failure when there is no such file, or it is not the one with this SHA-256 */
    async check(key: string, sha256: string | null): Promise<void> {
      const place = `s3://${bucket}/${key}`;
      if ((await sizeOf(key)) === null) throw new Failure(`There is no file ${place}: upload it first.`);
      if (sha256 === null) return;
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: key }));
      const found = await sha256Of(Body as Readable);
      if (found !== sha256) throw new Failure(`${place} has the SHA-256 ${found}, not ${sha256}.`);
    },

    /**
     * Uploads a file in parts, unless it is there. The key names its content, so nothing is ever replaced.
     * @param onBytes is told how many bytes are there, from time to time
     * @returns whether there was anything to upload
     * @throws Failure when the file was changed meanwhile: then nothing is left of it
     */
    async upload(
      { path, sizeBytes }: AdapterFile,
      { key: Key, sha256 }: { key: string; sha256: string },
      onBytes: (bytes: number) => void,
    ): Promise<boolean> {
      if ((await sizeOf(Key)) === sizeBytes) return false;
      const target = { Bucket: bucket, Key };
      const { UploadId } = await client.send(
        new CreateMultipartUploadCommand({ ...target, ContentType: 'application/octet-stream' }),
      );
      const upload = { ...target, UploadId };
      try {
        const send = async (Body: Buffer, PartNumber: number): Promise<CompletedPart> => {
          const sent = await client.send(new UploadPartCommand({ ...upload, PartNumber, Body }));
          // S3 compares the parts' checksums again when it joins them.
          return { PartNumber, ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32 };
        };
        const { parts, found } = await sendParts(path, send, onBytes);
        if (found !== sha256) throw new Failure(`${path} was changed while it was uploaded: try again.`);
        await client.send(
          new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: parts } }),
        );
      } catch (error) {
        // What stays nevertheless the bucket's lifecycle removes after a day.
        await client.send(new AbortMultipartUploadCommand(upload)).catch(() => {});
        throw error;
      }
      return true;
    },

    /** Closes the connections, so that the process can end. */
    close: () => client.destroy(),
  };
}

/** Sends a few parts at a time, and hashes what was really sent. */
async function sendParts(
  path: string,
  send: (part: Buffer, number: number) => Promise<CompletedPart>,
  onBytes: (bytes: number) => void,
) {
  await using file = await open(path);
  const hash = createHash('sha256');
  const parts: CompletedPart[] = [];
  const underway = new Set<Promise<void>>();
  let sentBytes = 0;
  for (let number = 1; ; number += 1) {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(partBytes), position: null });
    const part = buffer.subarray(0, bytesRead);
    if (bytesRead === 0) break;
    hash.update(part);
    const take = async () => {
      parts[number - 1] = await send(part, number);
      sentBytes += part.length;
      onBytes(sentBytes);
    };
    const sending = take().finally(() => underway.delete(sending));
    underway.add(sending);
    if (underway.size >= maxPartsOnTheWay) await Promise.race(underway);
  }
  await Promise.all(underway);
  return { parts, found: hash.digest('hex') };
}
