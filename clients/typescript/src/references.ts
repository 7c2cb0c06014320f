import type { ImageSource } from './images.ts';
import type { CallOptions } from './routes.ts';
import type { GenerationRequest } from './types.ts';
import { blobOf, uploadReference, type UploadFile } from './upload.ts';

type SentReference = NonNullable<GenerationRequest['referenceImages']>[number];

/** An address, an upload, or a file that the client uploads itself. `path` and `file:` URLs are for Node, Deno and Bun. */
export type ReferenceImage = SentReference | { path: string } | Exclude<UploadFile, string>;

/** The body of a generation whose reference images may be files. */
export interface GenerationBody extends Omit<GenerationRequest, 'referenceImages'> {
  referenceImages?: ReferenceImage[] | null;
}

/** Uploads the files of a body. @returns the body to send; the same one where it has no files */
export type Prepare = (body: GenerationBody, options?: CallOptions) => Promise<GenerationRequest>;

// An upload can be used for an hour.
const usedForMs = 50 * 60_000;

/** A content that was uploaded lately keeps its upload, so that a repeat of a call with its idempotency key sends the same body. */
export function preparing({ requester, send }: ImageSource): Prepare {
  const uploads = new Map<string, { uploadId: string; untilMs: number }>();
  const prepareOne = async (given: ReferenceImage, options: CallOptions): Promise<SentReference> => {
    if (given instanceof URL && given.protocol !== 'file:') return { url: given.href };
    if (!isFile(given)) return given;
    const file = await blobOf('path' in given ? given.path : given);
    const digest = await digestOf(await file.arrayBuffer());
    const known = uploads.get(digest);
    if (known !== undefined && known.untilMs > Date.now()) return { uploadId: known.uploadId };
    const uploadId = await uploadReference(requester, file, options, send);
    uploads.set(digest, { uploadId, untilMs: Date.now() + usedForMs });
    return { uploadId };
  };
  return async (body, { signal } = {}) => {
    const given = body.referenceImages ?? [];
    if (!Array.isArray(given) || !given.some((one) => isFile(one) || one instanceof URL))
      return body as GenerationRequest;
    const referenceImages: SentReference[] = [];
    // One after the other, so that equal ones are uploaded once.
    for (const one of given) referenceImages.push(await prepareOne(one, { signal }));
    return { ...body, referenceImages };
  };
}

/** What is no file is left to the service, which says what is wrong with it. */
function isFile(given: ReferenceImage): given is Exclude<ReferenceImage, SentReference> {
  if (typeof given !== 'object' || given === null) return false;
  return (
    [Blob, ArrayBuffer, URL].some((kind) => given instanceof kind) ||
    ArrayBuffer.isView(given) ||
    'path' in given
  );
}

/** The SHA-256 of bytes, in hexadecimal. */
export async function digestOf(bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
