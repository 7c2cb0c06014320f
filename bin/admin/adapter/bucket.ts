import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { NotFound, S3, type CompletedPart } from '@aws-sdk/client-s3';
import type { AdapterFile } from './file.ts';
import { Failure } from '../../common/failure.ts';

const partBytes = 16 * 1024 * 1024;
/** In memory and on the way at a time. */
const partsAtOnce = 4;

/** Lower-case hex. */
async function sha256Of(stream: Readable): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of stream) hash.update(piece as Buffer);
  return hash.digest('hex');
}

export const sha256OfFile = (path: string) => sha256Of(createReadStream(path, { highWaterMark: 1024 ** 2 }));

/** Where the files of adapters lie. The SDK's own uploader of parts would bring four packages more, for as many lines. */
export function adapterBucket(bucket: string) {
  const s3 = new S3({});

  const sizeOf = async (Key: string): Promise<number | null> => {
    try {
      return (await s3.headObject({ Bucket: bucket, Key })).ContentLength ?? null;
    } catch (error) {
      if (error instanceof NotFound) return null;
      throw error;
    }
  };

  return {
    /** @throws Failure when there is no such file, or it is not the one with this SHA-256 */
    async check(Key: string, sha256: string | null): Promise<void> {
      const place = `s3://${bucket}/${Key}`;
      if ((await sizeOf(Key)) === null) throw new Failure(`There is no file ${place}: upload it first.`);
      if (sha256 === null) return;
      const { Body } = await s3.getObject({ Bucket: bucket, Key });
      const found = await sha256Of(Body as Readable);
      if (found !== sha256) throw new Failure(`${place} has the SHA-256 ${found}, not ${sha256}.`);
    },

    /**
     * Uploads a file in parts, unless it is there. The key names its content, so nothing is ever replaced.
     * @param onBytes is told from time to time how many bytes are there
     * @returns whether there was anything to upload
     * @throws Failure when the file was changed meanwhile: then nothing is left of it
     */
    async upload(
      { path, sizeBytes }: AdapterFile,
      { key, sha256 }: { key: string; sha256: string },
      onBytes: (bytes: number) => void,
    ): Promise<boolean> {
      if ((await sizeOf(key)) === sizeBytes) return false;
      const target = { Bucket: bucket, Key: key };
      // S3 takes no part with another kind of checksum than its upload was begun with.
      const { UploadId } = await s3.createMultipartUpload({ ...target, ChecksumAlgorithm: 'CRC32' });
      const upload = { ...target, UploadId };
      try {
        const { parts: Parts, found } = await sendParts(s3, upload, path, onBytes);
        if (found !== sha256) throw new Failure(`${path} was changed while it was uploaded: try again.`);
        await s3.completeMultipartUpload({ ...upload, MultipartUpload: { Parts } });
        return true;
      } catch (error) {
        // What stays nevertheless the bucket's lifecycle removes after a day.
        await s3.abortMultipartUpload(upload).catch(() => {});
        throw error;
      }
    },

    /** Closes the connections, so that the process can end. */
    close: () => s3.destroy(),
  };
}

type Upload = { Bucket: string; Key: string; UploadId: string | undefined };

/** @returns the parts, and the SHA-256 of what was really sent */
async function sendParts(s3: S3, upload: Upload, path: string, onBytes: (bytes: number) => void) {
  await using file = await open(path);
  const hash = createHash('sha256');
  const parts: CompletedPart[] = [];
  let sent = 0;
  for (;;) {
    const pieces = await readParts(file);
    if (pieces.length === 0) return { parts, found: hash.digest('hex') };
    for (const piece of pieces) hash.update(piece);
    const sending = pieces.map(async (Body, i) => {
      const PartNumber = parts.length + i + 1;
      const { ETag, ChecksumCRC32 } = await s3.uploadPart({
        ...upload,
        PartNumber,
        Body,
        ChecksumAlgorithm: 'CRC32',
      });
      onBytes((sent += Body.length));
      return { PartNumber, ETag, ChecksumCRC32 };
    });
    parts.push(...(await Promise.all(sending)));
  }
}

/** The next few parts; none at the end of the file. */
async function readParts(file: FileHandle): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  while (parts.length < partsAtOnce) {
    const part = Buffer.alloc(partBytes);
    let filled = 0;
    // All but the last must be full, and a read may stop early.
    for (let read = 1; read > 0 && filled < partBytes; filled += read) {
      read = (await file.read(part, filled, partBytes - filled, null)).bytesRead;
    }
    if (filled === 0) break;
    parts.push(part.subarray(0, filled));
  }
  return parts;
}
