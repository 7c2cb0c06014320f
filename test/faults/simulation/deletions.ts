import { fingerprintApiKey } from '../../../shared/domain/api-key.ts';
import { isFinal } from '../../../shared/domain/generation.ts';
import { hashIdempotencyKey } from '../../../shared/store/idempotency-store.ts';
import type { Bucket } from './bucket.ts';
import type { Cast } from './cast.ts';
import type { Json } from './database.ts';
import { call } from './functions.ts';
import { seededRandom } from './random.ts';
import type { ClientRequest } from './requests.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';
import type { World } from './world.ts';

export type Deletions = ReturnType<typeof createDeletions>;

/** Follows which records are gone, and of which of them a caller was told so. */
export function createDeletions(bucket: Bucket, violation: (sentence: string) => void) {
  const gone = new Map<string, Json>();
  const told = new Map<string, number>();
  return {
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
        for (const key of bucket.keysOf(requestId)) violation(`${key} is left of a deleted request`);
      }
    },
  };
}

/** Only some worlds have deletions, so that the others stay as they were. */
const everySoManyWorlds = 3;

/** Deletes a request of the key's license now and then, sometimes twice at once, sometimes one that runs. */
export function createDeleter({ world }: Pick<Cast, 'world'>) {
  const random = seededRandom(world.seed + 0xde1e7e);
  const isHere = world.seed % everySoManyWorlds === 0;
  return async (cast: Cast, key: Key): Promise<void> => {
    if (!isHere || !random.chance(0.5)) return;
    const { checker } = world;
    const some = random.chance(0.1) ? checker.open() : checker.ended();
    const own = some.filter(({ licenseId }) => licenseId === key.tenant.license.licenseId);
    if (own.length === 0) return;
    const { requestId } = random.pick(own);
    const times = random.chance(0.2) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => remove(cast, key, requestId)));
  };
}

async function remove(cast: Cast, key: Key, requestId: string): Promise<void> {
  const { world, functions } = cast;
  const { checker, bucket, scheduler } = world;
  const run = newRun(`#${cast.nextNumber()} ${key.name} DELETE`, scheduler.now(), {
    mayFail: true,
    mayDie: true,
  });
  const wasEnded = checker.record(requestId)!.endedAtMs !== null;
  const before = bucket.keysOf(requestId);
  const reply = await call(run, functions.remove, {
    method: 'DELETE',
    resource: '/generate/{requestId}',
    pathParameters: { requestId },
    headers: { authorization: `Bearer ${key.raw}` },
  });
  if (reply === null) return world.counts.add('deletions: died');
  run.ended = true;
  world.history.note(run.name, `→ ${reply.status} ${requestId}`);
  world.counts.add(`deletions: ${reply.status}`);
  const wrong = wrongAnswer(world, requestId, { status: reply.status, wasEnded, before });
  if (wrong !== null) world.violations.push(`${run.name}: ${wrong}`);
  if (reply.status === 200) checker.deletions.told(requestId, world.moment());
}

function wrongAnswer(
  { checker, bucket }: World,
  requestId: string,
  { status, wasEnded, before }: { status: number; wasEnded: boolean; before: string[] },
): string | null {
  const isGone = checker.deletions.isGone(requestId);
  switch (status) {
    case 200: {
      if (!isGone) return `deleted ${requestId}, which is there`;
      const left = bucket.keysOf(requestId).filter((key) => before.includes(key));
      return left.length === 0 ? null : `deleted ${requestId}, and left ${left.join(', ')}`;
    }
    case 404:
      return isGone ? null : `did not find ${requestId}, which is there`;
    case 409:
      return wasEnded ? `says that ${requestId} runs, which had ended` : null;
    default:
      return [401, 429, 503].includes(status) ? null : `DELETE answered ${status}`;
  }
}
