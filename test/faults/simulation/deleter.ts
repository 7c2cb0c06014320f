import { routes } from '../../../shared/routes/routes.ts';
import { call, type Reply } from './functions.ts';
import { seededRandom } from './random.ts';
import { Run } from './runs.ts';
import type { Key } from './setup.ts';
import type { Simulation } from './simulation.ts';

/** Deletes a request of the key's license now and then, sometimes twice at once, sometimes one that runs. */
export function createDeleter(simulation: Simulation) {
  const { checker, profile, seed } = simulation;
  const random = seededRandom(seed + 0xde1e7e);
  return async (key: Key): Promise<void> => {
    if (!profile.hasDeletions || !random.chance(0.5)) return;
    if (random.chance(0.1)) await askForWhatIsNotTheirs(simulation, key);
    const some = random.chance(0.1) ? checker.open() : checker.ended();
    const own = some.filter(({ licenseId }) => licenseId === key.tenant.license.licenseId);
    if (own.length === 0) return;
    const { requestId } = random.pick(own);
    const times = random.chance(0.2) ? 2 : 1;
    await Promise.all(Array.from({ length: times }, () => remove(simulation, key, requestId)));
  };
}

async function remove(simulation: Simulation, key: Key, requestId: string): Promise<void> {
  const { checker, bucket, moment, violation } = simulation;
  const wasEnded = checker.record(requestId)!.endedAtMs !== null;
  const before = bucket.objectsOf(requestId);
  const reply = await ask(simulation, key, requestId);
  if (reply === null) return;
  const left = bucket.objectsOf(requestId).filter((object) => before.includes(object));
  const isGone = checker.deletions.isGone(requestId);
  const wrong = wrongAnswer(reply.status, { isGone, left, wasEnded });
  if (wrong !== null) violation(`${key.name}: DELETE of ${requestId} answered ${reply.status}, but ${wrong}`);
  if (reply.status === 200) checker.deletions.learned(requestId, moment());
}

function wrongAnswer(
  status: number,
  { isGone, left, wasEnded }: { isGone: boolean; left: string[]; wasEnded: boolean },
): string | null {
  if (status === 200 && left.length > 0) return `left ${left.join(', ')}`;
  if (status === 200) return isGone ? null : 'it is there';
  if (status === 404) return isGone ? null : 'it is there';
  if (status === 409) return wasEnded ? 'it had ended' : null;
  return isExcuse(status) ? null : 'nobody should ever read this';
}

const neverStored = '01890a5d-ac96-774b-bcce-b302099a8057';

/** Another license's request, and one that never was, get the same answer byte for byte. */
async function askForWhatIsNotTheirs(simulation: Simulation, key: Key): Promise<void> {
  const { licenseId } = key.tenant.license;
  const another = simulation.checker.ended().find((record) => record.licenseId !== licenseId);
  const answers = new Set<string>();
  for (const requestId of [neverStored, ...(another === undefined ? [] : [another.requestId])]) {
    const reply = await ask(simulation, key, requestId);
    if (reply !== null && !isExcuse(reply.status)) answers.add(`${reply.status} ${reply.body}`);
  }
  const isNotFound = answers.size <= 1 && [...answers].every((answer) => answer.startsWith('404 '));
  simulation.must(isNotFound, `${key.name}: DELETE of what is not theirs: ${[...answers].join(' and ')}`);
}

/** @returns null when its machine died. */
async function ask(simulation: Simulation, key: Key, requestId: string): Promise<Reply | null> {
  const { scheduler, functions, note, count } = simulation;
  const name = `#${simulation.nextNumber()} ${key.name} DELETE`;
  const run = new Run(name, scheduler.now(), { mayFail: true, mayDie: true });
  const reply = await call(run, functions.remove, routes.deleteGeneration, { key: key.raw, requestId });
  note(name, `→ ${reply?.status ?? '†'} ${requestId}`);
  count(`deletions: ${reply?.status ?? 'died'}`);
  return reply;
}

/** A key that ended, too many requests, or a fault. */
const isExcuse = (status: number): boolean => [401, 429, 503].includes(status);
