import type { Cast } from './cast.ts';
import { call } from './functions.ts';
import { seededRandom } from './random.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';
import type { World } from './world.ts';

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
