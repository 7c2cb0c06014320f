import { isFinal } from '../../../shared/generations/generation.ts';
import type { Cast } from './cast.ts';
import { call } from './functions.ts';
import { fetchRecord } from './records.ts';
import type { ClientRequest } from './requests.ts';
import { newRun } from './runs.ts';
import type { Key } from './setup.ts';

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
  const run = newRun(`#${cast.nextNumber()} ${key.name} dry`, world.scheduler.now(), {
    mayFail: true,
    environment: 'create-generation 0',
  });
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
