import type { ObjectStore } from '../adapters/object-store.ts';
import type { ReferenceFetcherClient } from '../adapters/reference-fetcher-client.ts';
import type { ReferenceItem } from '../contracts/generation.ts';
import type { ReferenceOrigin, ReferenceSource } from '../contracts/reference-images.ts';
import type { Clock } from '../domain/clock.ts';
import { isUploadId, uploadExpiresAtMs } from '../domain/upload.ts';
import { ServiceError } from '../errors.ts';

export interface ReferenceDeps {
  objects: ObjectStore;
  references: ReferenceFetcherClient;
  clock: Clock;
}

interface RequestRef {
  requestId: string;
  licenseId: string;
}

const unknownUpload = 'is not an upload of this license';
const lateUpload = 'was opened more than an hour ago: open another with POST /uploads';

/**
 * Checks a request's reference images, before credits are held for it.
 * @param copyReferences whether those that can be used are copied to where the model may read them.
 * @throws INVALID_PARAMETERS naming every item that can't be used, SERVICE_UNAVAILABLE
 */
export async function prepareReferences(
  of: RequestRef,
  items: ReferenceItem[],
  { objects, references, clock }: ReferenceDeps,
  { copyReferences }: { copyReferences: boolean },
): Promise<void> {
  const nowMs = clock.now();
  const problems = items.map((item) => uploadProblem(item, nowMs));
  const open = items.flatMap((item, index) => (problems[index] === null ? [{ item, index }] : []));
  const sources = await Promise.all(
    open.map(async ({ item, index }): Promise<ReferenceSource> => {
      const putLink = copyReferences ? await objects.referencePutLink(of, index) : null;
      return { ...(await originOf(of, item, objects)), putLink };
    }),
  );
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

/** Checks the id itself. An id that can't be an upload's never becomes part of an object's key. */
function uploadProblem({ uploadId }: ReferenceItem, nowMs: number): string | null {
  if (uploadId === undefined) return null;
  if (!isUploadId(uploadId)) return unknownUpload;
  return uploadExpiresAtMs(uploadId) <= nowMs ? lateUpload : null;
}

async function originOf(
  { licenseId }: RequestRef,
  { url, uploadId }: ReferenceItem,
  objects: ObjectStore,
): Promise<ReferenceOrigin> {
  if (url !== undefined) return { kind: 'url', url };
  return { kind: 'upload', getLink: await objects.uploadLink({ licenseId, uploadId: uploadId! }) };
}
