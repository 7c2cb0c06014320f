import { isFinal } from '../../../shared/generations/generation.ts';
import { hashIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import type { Outside } from './outside.ts';
import { prompt, type ClientRequest } from './requests.ts';
import type { Json } from './table-calls.ts';

/** Follows which records are gone, and of which of them a caller knows it. */
export function createDeletions({ bucket, must, violation }: Outside) {
  const gone = new Map<string, Json>();
  const known = new Map<string, number>();
  return {
    /** Something other than a record was written. What it said of a prompt would stay when the record is deleted. */
    elsewhereWritten: (item: Json): void =>
      must(!JSON.stringify(item).includes(prompt), `${item.PK} ${item.SK} has the prompt of a request`),
    /** A record was written, or is not there any more. */
    written(before: Json | undefined, item: Json | undefined): void {
      if (item !== undefined) must(!gone.has(item.SK), `request ${item.SK} was deleted and is there again`);
      else if (before !== undefined) {
        must(isFinal(before.status), `request ${before.SK} was deleted while it was ${before.status}`);
        must(bucket.isBuried(before.SK), `request ${before.SK} was deleted without a tombstone`);
        gone.set(before.SK, before);
      }
    },
    isGone: (requestId: string) => gone.has(requestId),
    /** A caller learns that a request is deleted. */
    learned: (requestId: string, moment: number) => void known.set(requestId, moment),
    /** Whether a caller knew that a request is deleted before somebody else asked for it. */
    wasKnownBefore: (requestId: string, moment: number) => (known.get(requestId) ?? Infinity) < moment,
    /** Whether the first request with this idempotency key may have been deleted. */
    hadKey({ key, idempotencyKey }: ClientRequest): boolean {
      if (idempotencyKey === null) return false;
      const onceId = hashIdempotencyKey(idempotencyKey);
      return [...gone.values()].some((item) => item.keyId === key.stored.keyId && item.onceId === onceId);
    },
    /** Once nothing runs: nothing of what was deleted is anywhere. */
    atRest(items: Iterable<Json>): void {
      for (const { PK, SK } of items)
        must(!PK.startsWith('DELETION#'), `the deletion of ${SK} does not come to its end`);
      for (const requestId of gone.keys())
        for (const object of bucket.objectsOf(requestId)) violation(`${object} is left of a deleted request`);
    },
  };
}
