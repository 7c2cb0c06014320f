import type {
  referenceLimits as serviceLimits,
  ReferenceFormat,
} from '../../../../../shared/images/image-types.ts';
import type { ReferenceBody } from '../../../api/generate.ts';
import type { ReferenceMode } from '../../../lib/types.ts';

/**
 * The service's limits for reference images. They are repeated here because contracts are imported as types only; a
 * test compares them.
 */
export const referenceLimits: typeof serviceLimits = {
  maxItems: 4,
  maxBytes: 10 * 1024 * 1024,
  maxPixels: 40_000_000,
  minSidePx: 64,
  maxSidePx: 8192,
  maxUrlCharacters: 2048,
};

export const uploadLifetimeMs = 3_600_000;

/** A reference image of the form: a file, an address, or a file that is shown only to say why it is not used. */
export type Reference = FileReference | UrlReference | RefusedFile;

interface Common {
  /** Made by the page. */
  id: string;
  problem: string | null;
}

export interface Picture {
  format: ReferenceFormat;
  /** As stored. A photo may be shown turned by 90°. */
  widthPx: number;
  heightPx: number;
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

export function sendable(items: readonly Reference[]): (FileReference | UrlReference)[] {
  return items.filter((item) => item.kind !== 'refused');
}

// Time for the request that uses an upload to arrive.
const marginMs = 120_000;

/**
 * The id of an upload, if it can be used for a license. An upload belongs to one license and expires after an hour. The
 * hour is counted here, because the computer's clock may be wrong.
 */
export function usableUploadId(upload: Upload, licenseId: string, nowMs: number): string | null {
  if (upload.status !== 'done' || upload.licenseId !== licenseId) return null;
  const ageMs = nowMs - upload.askedAtMs;
  return ageMs >= 0 && ageMs < uploadLifetimeMs - marginMs ? upload.uploadId : null;
}

/** The references for a request's body. Null while a file is not uploaded yet. */
export function toReferenceBodies(
  items: readonly Reference[],
  licenseId: string,
  nowMs: number,
): ReferenceBody[] | null {
  const bodies = sendable(items).map((item) => bodyOf(item, licenseId, nowMs));
  return bodies.every((body) => body !== null) ? bodies : null;
}

/** The references for code samples. `UPLOAD_ID` stands for files that are not uploaded yet. */
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
export function modeError(mode: ReferenceMode, items: readonly Reference[]): string | null {
  return mode === 'exact_product' && sendable(items).length === 0
    ? 'Exact product needs an image. Add one, or choose Reference.'
    : null;
}

export function freePlaces(items: readonly Reference[]): number {
  return Math.max(0, referenceLimits.maxItems - sendable(items).length);
}

/** The name that people see: of a file, or an address without scheme and query. */
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

/** `referenceImages[2].url: could not be fetched`, or with a space for the colon: one refusal of several. */
const refusal = /^referenceImages\[(\d+)\](?:\.(?:url|uploadId))?:? (.+)$/s;

/**
 * The service's refusals of reference images as sentences, by the image's index in the request.
 * @param message of INVALID_PARAMETERS: refusals that end with a semicolon or a full stop.
 */
export function readRefusals(message: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const part of partsOf(message)) {
    const [, place, what] = refusal.exec(part) ?? [];
    if (place !== undefined && what !== undefined) found.set(Number(place), sentence(what));
  }
  return found;
}

/** The same message with each image under the name that people know it by. */
export function nameRefusals(message: string, references: readonly Reference[]): string {
  const named = partsOf(message).map((part) => {
    const [, place, what] = refusal.exec(part) ?? [];
    const reference = references[Number(place)];
    return reference === undefined ? part : `${referenceName(reference)}: ${what}`;
  });
  return `${named.join('. ')}.`;
}

/** A refusal may contain full stops, so split only where the next one begins. */
function partsOf(message: string): string[] {
  return message.replace(/\.$/, '').split(/[.;] (?=referenceImages\[)/);
}

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}.`;
}
