import type { ObjectStore, RequestRef } from '../images/object-store.ts';
import type { ReferenceFetcherClient } from './reader-client.ts';
import type { ReferenceItem } from './contract.ts';
import {
  isDataUri,
  maxAddressesPerMinute,
  originOfUrl,
  type ReferenceOrigin,
  type ReferenceSource,
} from './contract.ts';
import type { RateLimit } from '../limits/rate-limit.ts';
import { isUploadId, uploadExpiresAtMs } from '../images/upload.ts';
import { counted } from '../base/words.ts';
import { inWords, memberName, ServiceError, serviceBusy, type Sentence, type Words } from '../base/errors.ts';
import { countUses, type UseCountDeps } from '../limits/count-uses.ts';
import { discardReferences, type DiscardDeps } from './discard-references.ts';

export interface ReferenceDeps extends UseCountDeps, DiscardDeps {
  objects: ObjectStore;
  references: ReferenceFetcherClient;
}

/** For a license, so that no number of keys makes the service a crowd. */
const addressLimit: RateLimit = {
  name: 'references',
  quota: maxAddressesPerMinute,
  windowSeconds: 60,
};

const unknownUpload = 'is not an upload of this license';
const lateUpload = ({ uploads }: Words) => `was opened more than an hour ago: open another with ${uploads}`;

/**
 * Checks a request's reference images, as the last thing before credits are held for it.
 * @param copyReferences whether they are copied to where the model may read them. When this throws, no copy is left.
 * @throws INVALID_PARAMETERS naming every item that can't be used, RATE_LIMITED, SERVICE_UNAVAILABLE
 */
export async function prepareReferences(
  of: RequestRef,
  items: ReferenceItem[],
  deps: ReferenceDeps,
  { copyReferences }: { copyReferences: boolean },
): Promise<void> {
  const nowMs = deps.clock.now();
  const problems = items.map((item) => uploadProblem(item, nowMs));
  const open = items.flatMap((item, index) => (problems[index] === null ? [{ item, index }] : []));
  const addresses = open.filter(({ item: { url } }) => url !== undefined && !isDataUri(url));
  await countAddresses(of, addresses.length, deps);
  // Where one can't be used already, the others are only looked at.
  const copied = copyReferences && open.length === items.length;
  try {
    const found = await fetchOpen(of, open, deps, copied);
    found.forEach((problem, i) => (problems[open[i]!.index] = problem));
    refuseUnusable(items, problems);
  } catch (error) {
    if (copied) await discardReferences(of, items.length, deps);
    throw error;
  }
}

/** An item that may be fetched, with its place in the request. */
interface OpenItem {
  item: ReferenceItem;
  index: number;
}

async function fetchOpen(
  of: RequestRef,
  open: OpenItem[],
  { objects, references }: ReferenceDeps,
  copied: boolean,
): Promise<(string | null)[]> {
  if (open.length === 0) return [];
  const sources = open.map(async ({ item, index }): Promise<ReferenceSource> => {
    const putLink = copied ? await objects.referencePutLink(of, index) : null;
    return { ...(await originOf(of, item, objects)), putLink };
  });
  return references.fetch({ requestId: of.requestId, items: await Promise.all(sources) });
}

/** @throws INVALID_PARAMETERS naming every item with a problem. */
function refuseUnusable(items: ReferenceItem[], problems: (Sentence | null)[]): void {
  if (problems.every((problem) => problem === null)) return;
  throw new ServiceError('INVALID_PARAMETERS', (words) => {
    const named = problems.flatMap((problem, i) => {
      const member = memberName(items[i]!.url === undefined ? 'uploadId' : 'url', words);
      const item = `${memberName('referenceImages', words)}[${i}].${member}`;
      return problem === null ? [] : [`${item}: ${inWords(problem, words)}.`];
    });
    return named.join(' ');
  });
}

/**
 * Counts the addresses that a request wants fetched, all of them or none.
 * @throws RATE_LIMITED; SERVICE_UNAVAILABLE when nobody knows whether they are within the limit.
 */
async function countAddresses(
  { licenseId }: RequestRef,
  addresses: number,
  deps: ReferenceDeps,
): Promise<void> {
  if (addresses === 0) return;
  const uses = { uses: addresses, read: null };
  const { allowed, resetSeconds } = await countUses(licenseId, addressLimit, uses, deps).catch(
    (cause: unknown) => {
      throw serviceBusy(cause);
    },
  );
  if (allowed) return;
  const { quota, windowSeconds } = addressLimit;
  throw new ServiceError(
    'RATE_LIMITED',
    ({ uploads }) =>
      `At most ${quota} addresses of reference images in ${windowSeconds} seconds are fetched for one license, ` +
      `and this request names ${addresses}. Try again in ${counted(resetSeconds, 'second')}, or send files with ${uploads}.`,
    { retryAfterSeconds: resetSeconds },
  );
}

/** Checks the id itself. An id that can't be an upload's never becomes part of an object's key. */
function uploadProblem({ uploadId }: ReferenceItem, nowMs: number): Sentence | null {
  if (uploadId === undefined) return null;
  if (!isUploadId(uploadId)) return unknownUpload;
  return uploadExpiresAtMs(uploadId) <= nowMs ? lateUpload : null;
}

async function originOf(
  { licenseId }: RequestRef,
  { url, uploadId }: ReferenceItem,
  objects: ObjectStore,
): Promise<ReferenceOrigin> {
  if (url !== undefined) return originOfUrl(url);
  return { kind: 'upload', getLink: await objects.uploadLink({ licenseId, uploadId: uploadId! }) };
}
