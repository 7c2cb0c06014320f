import { isFinal } from '../../../shared/domain/generation.ts';
import { basePath } from '../../../shared/routes.ts';
import { fetchRecord, type Cast } from './clients.ts';
import { call, type Reply } from './functions.ts';
import type { Outcome } from './judge.ts';
import type { ClientRequest } from './requests.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';

/** Why an answer is not that to a request that was accepted; null when it is. */
export function wrongAcceptance(
  { status, headers }: Reply,
  { answer, requestId }: Outcome,
  credits: number,
): string | null {
  const expected = { requestId, status: 'QUEUED', creditsReserved: credits };
  if (JSON.stringify(answer) !== JSON.stringify(expected)) return `${status} ${JSON.stringify(answer)}`;
  if (headers['preference-applied'] !== 'respond-async') return 'no preference was applied';
  if (headers.location !== `${basePath}/generate/${requestId}`) return `its address is ${headers.location}`;
  return Number(headers['retry-after']) > 0 ? null : 'nothing says when to look at it';
}

/** Looks at an accepted request until it is final, or until somebody else's patience ends. */
export async function follow(cast: Cast, key: Key, requestId: string): Promise<void> {
  const { random, scheduler, counts } = cast.world;
  let waitMs = 2000;
  for (let looks = 1; looks <= 12; looks++) {
    await scheduler.pause(waitMs + random.int(0, 4000 * looks));
    const reply = await fetchRecord(cast, key, requestId);
    if (reply === null) continue;
    const { status } = JSON.parse(reply.body);
    if (reply.status === 200 && isFinal(status)) return counts.add('followed to the end');
    waitMs = Number(reply.headers['retry-after'] ?? 1) * 1000;
    if (!key.access.isOpen() || waitMs > 60_000) return;
  }
}

/** Asks what a request would be. Nothing is stored for it. */
export async function askFirst(cast: Cast, { key, body, respondAsync }: ClientRequest): Promise<void> {
  const { world, functions } = cast;
  const run = newRun(`#${cast.nextNumber()} ${key.name} dry`, world.scheduler.now(), { mayFail: true });
  const reply = await call(run, functions.generate[0], {
    method: 'POST',
    resource: '/generate',
    query: { dryRun: ['true'] },
    headers: { authorization: `Bearer ${key.raw}`, ...(respondAsync ? { prefer: 'respond-async' } : {}) },
    body,
  });
  if (reply === null) return;
  world.history.note(run.name, `→ ${reply.status}`);
  world.counts.add('dry runs');
  const known = [200, 400, 401, 403, 429, 503];
  const writes = run.calls.find((name) => ['reserve', 'hand over', 'settle', 'start'].includes(name));
  if (known.includes(reply.status) && writes === undefined) return;
  world.violations.push(`${run.name}: a dry run answered ${reply.status} and did ${writes ?? 'nothing'}`);
}
