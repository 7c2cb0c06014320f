import { routes } from '../../../shared/routes/routes.ts';
import { call, type Reply } from './functions.ts';
import type { StoredRecord } from './invariants.ts';
import { seededRandom } from './random.ts';
import { Run } from './runs.ts';
import type { Key } from './setup.ts';
import type { Simulation } from './simulation.ts';

/** Cancels what was stored, began, or is about to be charged, within moments or seconds of it, and now and then what has ended. */
export function installCancellations(simulation: Simulation): void {
  const { profile, seed, watch, scheduler, checker, keys, isCalm } = simulation;
  if (!profile.hasCancellations) return;
  const random = seededRandom(seed + 0xca9ce1);
  watch.touched = (requestId) => {
    if (isCalm() || !random.chance(0.12)) return;
    const record = checker.record(requestId)!;
    const ended = checker.ended();
    const { requestId: meant, licenseId } =
      random.chance(0.1) && ended.length > 0 ? random.pick(ended) : record;
    // Mostly by a key of the same license.
    const own = keys.filter(({ stored }) => stored.licenseId === licenseId);
    const key = random.pick(random.chance(0.05) || own.length === 0 ? keys : own);
    const times = random.pick([1, 1, 1, 2, 3]);
    for (let i = 0; i < times; i++)
      scheduler.after(random.int(0, random.pick([30, 30, 3000])), () => void cancel(simulation, key, meant));
  };
}

async function cancel(simulation: Simulation, key: Key, requestId: string): Promise<void> {
  const { scheduler, functions, note, checker, complain, bucket } = simulation;
  const name = `#${simulation.nextNumber()} ${key.name} CANCEL`;
  const run = new Run(name, scheduler.now(), { kind: 'cancel', mayFail: true, mayDie: true });
  const reply = await call(run, functions.cancel, routes.cancelGeneration, { key: key.raw, requestId });
  note(name, `→ ${reply?.status ?? '†'} ${requestId}`);
  if (reply === null) return;
  run.isUnsure = reply.status === 503;
  const isGone = checker.deletions.isGone(requestId);
  complain(name, wrongAnswer(simulation, key, checker.record(requestId)!, { reply, isGone }));
  if (reply.status !== 200) return;
  const isTold = bucket.isCancelled(requestId) || run.faults.length > 0;
  complain(name, isTold ? null : `its model was not told of ${requestId}`);
}

/** A 200 has a cancelled record behind it; what ended otherwise, or is another's, is left as it is. */
function wrongAnswer(
  { profile }: Simulation,
  { stored }: Key,
  { licenseId, endedAtMs, item }: StoredRecord,
  { reply: { status, body }, isGone }: { reply: Reply; isGone: boolean },
): string | null {
  const said = JSON.parse(body);
  const isAnothers =
    licenseId !== stored.licenseId || (stored.access === 'own' && item.keyId !== stored.keyId);
  // Budgets come and go meanwhile, and who has one cancels only what is its own.
  const mayBeLeft = isAnothers || isGone || (item.keyId !== stored.keyId && profile.hasBudgets);
  const isCancelled = item.errorCode === 'CANCELLED';
  if (status === 200 && isAnothers) return "it is another's";
  if (status === 200)
    return isCancelled && item.status === 'FAILED' && said.errorCode === 'CANCELLED'
      ? null
      : `200 says ${said.status}, and it is ${item.status}`;
  if (status === 404) return mayBeLeft ? null : '404, and it is there';
  if (status === 409)
    return endedAtMs !== null && !isCancelled && said.error.includes(item.status)
      ? null
      : `${body}, and it is ${item.status}`;
  return [401, 429, 503].includes(status) ? null : `nobody should ever read ${body}`;
}
