import { call, type Reply } from './functions.ts';
import type { Cast } from './judge.ts';
import { seededRandom } from './random.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';
import type { World } from './world.ts';

/** Only some worlds have deletions, so that the others stay as they were. */
const everySoManyWorlds = 3;

const hasDeletions = (seed: number): boolean => seed % everySoManyWorlds === 0;

/**
 * In every second of these worlds deletions of images fail so often that some fail to their last attempt. Not more often: all of
 * a request's twelve objects must go in one pass, and a world has to end.
 */
export function drawDeletionFaults({ seed, profile }: Pick<World, 'seed' | 'profile'>): void {
  const turn = seed / (2 * everySoManyWorlds);
  if (!Number.isInteger(turn)) return;
  const faults = ['reset before', '500 before', 'throttled', 'timeout before'] as const;
  profile.focus.push({ purpose: 'delete an image', fault: faults[turn % faults.length]!, chance: 0.5 });
}

/** Deletes a request of the key's license now and then, sometimes twice at once, sometimes one that runs. */
export function createDeleter({ world }: Pick<Cast, 'world'>) {
  const random = seededRandom(world.seed + 0xde1e7e);
  return async (cast: Cast, key: Key): Promise<void> => {
    if (!hasDeletions(world.seed) || !random.chance(0.5)) return;
    const { checker } = world;
    if (random.chance(0.1)) await askForWhatIsNotTheirs(cast, key);
    const some = random.chance(0.1) ? checker.open() : checker.ended();
    const own = some.filter(({ licenseId }) => licenseId === key.tenant.license.licenseId);
    if (own.length === 0) return;
    const { requestId } = random.pick(own);
    const times = random.chance(0.2) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => remove(cast, key, requestId)));
  };
}

async function remove(cast: Cast, key: Key, requestId: string): Promise<void> {
  const { world } = cast;
  const { checker, bucket } = world;
  const wasEnded = checker.record(requestId)!.endedAtMs !== null;
  const before = bucket.objectsOf(requestId);
  const reply = await ask(cast, key, requestId);
  if (reply === null) return;
  const wrong = wrongAnswer(world, requestId, { status: reply.status, wasEnded, before });
  if (wrong !== null) tell(world, `${key.name}: ${wrong}`);
  if (reply.status === 200) checker.deletions.told(requestId, world.moment());
}

/** Another license's request, and one that never was, get the same answer byte for byte. */
async function askForWhatIsNotTheirs(cast: Cast, key: Key): Promise<void> {
  const { world } = cast;
  const { licenseId } = key.tenant.license;
  const another = world.checker.ended().find((record) => record.licenseId !== licenseId);
  const answers = new Set<string>();
  for (const requestId of [neverStored, ...(another === undefined ? [] : [another.requestId])]) {
    const reply = await ask(cast, key, requestId);
    if (reply === null || isExcuse(reply.status)) continue;
    answers.add(`${reply.status} ${reply.body}`);
  }
  if ([...answers].some((answer) => !answer.startsWith('404 ')) || answers.size > 1) {
    tell(world, `${key.name}: asked to delete what is not theirs, and heard ${[...answers].join(' and ')}`);
  }
}

const neverStored = '01890a5d-ac96-774b-bcce-b302099a8057';

/** @returns null when its machine died. */
async function ask(
  { world, functions, nextNumber }: Cast,
  key: Key,
  requestId: string,
): Promise<Reply | null> {
  const { scheduler, history, counts } = world;
  const run = newRun(`#${nextNumber()} ${key.name} DELETE`, scheduler.now(), { mayFail: true, mayDie: true });
  const reply = await call(run, functions.remove, {
    method: 'DELETE',
    resource: '/generate/{requestId}',
    pathParameters: { requestId },
    headers: { authorization: `Bearer ${key.raw}` },
  });
  run.ended = reply !== null;
  history.note(run.name, `→ ${reply?.status ?? '†'} ${requestId}`);
  counts.add(`deletions: ${reply?.status ?? 'died'}`);
  return reply;
}

function tell({ violations, history }: World, sentence: string): void {
  violations.push(sentence);
  history.note('!!', sentence);
}

/** A key that ended, too many requests, or a fault. */
const isExcuse = (status: number): boolean => [401, 429, 503].includes(status);

function wrongAnswer(
  { checker, bucket }: World,
  requestId: string,
  { status, wasEnded, before }: { status: number; wasEnded: boolean; before: string[] },
): string | null {
  const isGone = checker.deletions.isGone(requestId);
  switch (status) {
    case 200: {
      if (!isGone) return `deleted ${requestId}, which is there`;
      const left = bucket.objectsOf(requestId).filter((object) => before.includes(object));
      return left.length === 0 ? null : `deleted ${requestId}, and left ${left.join(', ')}`;
    }
    case 404:
      return isGone ? null : `did not find ${requestId}, which is there`;
    case 409:
      return wasEnded ? `says that ${requestId} runs, which had ended` : null;
    default:
      return isExcuse(status) ? null : `DELETE answered ${status}`;
  }
}
