import type { ObjectStore } from '../adapters/object-store.ts';
import type { ReferenceReader } from '../adapters/reference-reader.ts';
import type { ReferenceItem } from '../contracts/generation.ts';
import type { ReferenceSource } from '../contracts/reference-images.ts';
import type { Clock } from '../domain/clock.ts';
import { isUploadId, uploadExpiresAtMs } from '../domain/upload.ts';
import { ServiceError } from '../errors.ts';

export interface ReferenceDeps {
  objects: ObjectStore;
  references: ReferenceReader;
  clock: Clock;
}

interface RequestRef {
  requestId: string;
  licenseId: string;
}

const unknownUpload = 'is not an upload of this license';
const lateUpload = 'was opened more than an hour ago: open another with POST /uploads';

/**
 * Copies a request's reference images to where its model may read them, before anything is held for it.
 * @throws INVALID_PARAMETERS naming every item that can't be used, SERVICE_UNAVAILABLE
 */
export async function prepareReferences(
  of: RequestRef,
  items: ReferenceItem[],
  { objects, references, clock }: ReferenceDeps,
): Promise<void> {
  const nowMs = clock.now();
  const problems = items.map((item) => uploadProblem(item, nowMs));
  const open = items.flatMap((item, index) => (problems[index] === null ? [{ item, index }] : []));
  const sources = await Promise.all(open.map(({ item, index }) => sourceOf(of, item, index, objects)));
  if (sources.length > 0) {
    const found = await references.fetch({ requestId: of.requestId, items: sources });
    found.forEach((problem, i) => (problems[open[i]!.index] = problem));
  }
  const named = problems.flatMap((problem, i) => {
    const member = items[i]!.url === undefined ? 'uploadId' : 'url';
    return problem === null ? [] : [`referenceImages[${i}].${member}: ${problem}.`];
  });
  if (named.length > 0) throw new ServiceError('INVALID_PARAMETERS', named.join(' '));
}

/** What an id tells by itself: one that can't be an upload's never becomes a key of the bucket. */
function uploadProblem({ uploadId }: ReferenceItem, nowMs: number): string | null {
  if (uploadId === undefined) return null;
  if (!isUploadId(uploadId)) return unknownUpload;
  return uploadExpiresAtMs(uploadId) <= nowMs ? lateUpload : null;
}

async function sourceOf(
  of: RequestRef,
  { url, uploadId }: ReferenceItem,
  index: number,
  objects: ObjectStore,
): Promise<ReferenceSource> {
  const putLink = await objects.referencePutLink(of, index);
  if (url !== undefined) return { kind: 'url', url, putLink };
  const getLink = await objects.uploadLink({ licenseId: of.licenseId, uploadId: uploadId! });
  return { kind: 'upload', getLink, putLink };
}
