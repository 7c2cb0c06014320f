import { fingerprintApiKey } from '../../../shared/keys/api-key.ts';
import { isFinal } from '../../../shared/generations/generation.ts';
import { hashIdempotencyKey } from '../../../shared/generations/idempotency-store.ts';
import type { Bucket } from './bucket.ts';
import { prompt, type ClientRequest } from './requests.ts';
import type { Json } from './table-calls.ts';

/** Follows which records are gone, and of which of them a caller was told so. */
export function createDeletions(bucket: Bucket, violation: (sentence: string) => void) {
  const gone = new Map<string, Json>();
  const told = new Map<string, number>();
  return {
    /** Something other than a record was written. What it said of a prompt would stay when the record is deleted. */
    elsewhereWritten(item: Json): void {
      if (!JSON.stringify(item).includes(prompt)) return;
      violation(`${item.PK} ${item.SK} has the prompt of a request`);
    },
    /** A record was written, or is not there any more. */
    written(before: Json | undefined, item: Json | undefined): void {
      if (item !== undefined) {
        if (gone.has(item.SK)) violation(`request ${item.SK} was deleted and is there again`);
        return;
      }
      if (before === undefined) return;
      if (!isFinal(before.status))
        violation(`request ${before.SK} was deleted while it was ${before.status}`);
      gone.set(before.SK, before);
    },
    isGone: (requestId: string) => gone.has(requestId),
    told: (requestId: string, moment: number) => void told.set(requestId, moment),
    /** Whether a caller knew that a request is deleted before somebody else asked for it. */
    wasToldBefore: (requestId: string, moment: number) => (told.get(requestId) ?? Infinity) < moment,
    /** Whether the first request with this idempotency key may have been deleted. */
    hadKey({ key, idempotencyKey }: ClientRequest): boolean {
      if (idempotencyKey === null) return false;
      const { keyId } = fingerprintApiKey(key.raw);
      const onceId = hashIdempotencyKey(idempotencyKey);
      return [...gone.values()].some((item) => item.keyId === keyId && item.onceId === onceId);
    },
    /** Once nothing runs: nothing of what was deleted is anywhere. */
    atRest(items: Iterable<Json>): void {
      for (const { PK, SK } of items) {
        if (String(PK).startsWith('DELETION#')) violation(`the deletion of ${SK} does not come to its end`);
      }
      for (const requestId of gone.keys()) {
        for (const object of bucket.objectsOf(requestId)) violation(`${object} is left of a deleted request`);
      }
    },
  };
}
