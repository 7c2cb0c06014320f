import type { PlaygroundBody } from '../../../api/generate.ts';
import type { FormValues } from '../form-values.ts';
import type { Picture } from './inspect-file.ts';
import { referenceLimits, uploadLifetimeMs } from './limits.ts';

/** A reference image of the form: a file, an address, or a file that is shown only to say why it is not used. */
export type Reference = FileReference | UrlReference | RefusedFile;

interface Common {
  /** Of the page's own making. */
  id: string;
  /** What is wrong with it, as a sentence. */
  problem: string | null;
}

export interface FileReference extends Common {
  kind: 'file';
  file: File;
  picture: Picture;
  upload: Upload;
}

export interface UrlReference extends Common {
  kind: 'url';
  url: string;
}

export interface RefusedFile extends Common {
  kind: 'refused';
  name: string;
  problem: string;
}

export type Upload =
  | { status: 'waiting' }
  /** `share` is from 0 to 1. */
  | { status: 'sending'; share: number }
  | { status: 'done'; licenseId: string; uploadId: string; askedAtMs: number }
  | { status: 'failed'; message: string };

export type ReferenceBody = NonNullable<PlaygroundBody['referenceImages']>[number];

/** Those that a request would have. */
export function sendable(items: readonly Reference[]): (FileReference | UrlReference)[] {
  return items.filter((item) => item.kind !== 'refused');
}

// The request that names an upload takes a while to arrive.
const marginMs = 120_000;

/**
 * The id of an upload that can be used for a license: it belongs to one, and ends after an hour. That hour is counted
 * here, since the clock of a computer may be wrong.
 */
export function usableUploadId(upload: Upload, licenseId: string, nowMs: number): string | null {
  if (upload.status !== 'done' || upload.licenseId !== licenseId) return null;
  const ageMs = nowMs - upload.askedAtMs;
  return ageMs >= 0 && ageMs < uploadLifetimeMs - marginMs ? upload.uploadId : null;
}

/** As they stand in a request's body; null while a file of them has yet to be uploaded. */
export function toReferenceBodies(
  items: readonly Reference[],
  licenseId: string,
  nowMs: number,
): ReferenceBody[] | null {
  const bodies = sendable(items).map((item) => bodyOf(item, licenseId, nowMs));
  return bodies.every((body) => body !== null) ? bodies : null;
}

/** The same for code to copy, where `UPLOAD_ID` stands for what has yet to be uploaded. */
export function toSampleReferences(
  items: readonly Reference[],
  licenseId: string,
  nowMs: number,
): ReferenceBody[] {
  return sendable(items).map((item) => bodyOf(item, licenseId, nowMs) ?? { uploadId: 'UPLOAD_ID' });
}

function bodyOf(item: FileReference | UrlReference, licenseId: string, nowMs: number): ReferenceBody | null {
  if (item.kind === 'url') return { url: item.url };
  const uploadId = usableUploadId(item.upload, licenseId, nowMs);
  return uploadId === null ? null : { uploadId };
}

/** What is wrong with the mode, for an identity that takes reference images. */
export function modeError(mode: FormValues['referenceMode'], items: readonly Reference[]): string | null {
  return mode === 'exact_product' && sendable(items).length === 0
    ? 'Exact product needs an image. Add one, or choose Reference.'
    : null;
}

export function freePlaces(items: readonly Reference[]): number {
  return Math.max(0, referenceLimits.maxItems - sendable(items).length);
}

/** What people call it: a file's name, or an address without its beginning and its query. */
export function referenceName(item: Reference): string {
  if (item.kind === 'file') return item.file.name;
  if (item.kind === 'refused') return item.name;
  const { host, file } = urlParts(item.url);
  return file === '' ? host : `${host}/${file}`;
}

/** The host and the last part of the path, as far as they can be read by people. */
export function urlParts(url: string): { host: string; file: string } {
  const { hostname, pathname } = new URL(url);
  const last = pathname.split('/').findLast((part) => part !== '') ?? '';
  return { host: hostname, file: decoded(last) };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
