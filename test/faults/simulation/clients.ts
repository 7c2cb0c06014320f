import { isFinal } from '../../../shared/generations/generation.ts';
import { createDeleter } from './deleter.ts';
import { call, type Reply } from './functions.ts';
import type { Attempt, Cast } from './judge.ts';
import { endBudget } from './operators.ts';
import { readReply, drawRequest, smallBody, type Outcome, type ClientRequest } from './requests.ts';
import { currentRun, die, newRun } from './runs.ts';
import type { Key, Setup } from './setup.ts';
import type { World } from './world.ts';

/** How long Lambda lets the function run; other hosts let it be as late as it likes. */
const functionTimeoutsMs = [90_000, 400_000];
const dayMs = 24 * 3600_000;

/** A developer's program: sends requests, tries again what failed, fetches what it missed. */
export async function runClient(cast: Cast, firstKey: Key): Promise<void> {
  let key = firstKey;
  const { world } = cast;
  const { random, scheduler } = world;
  const sent: ClientRequest[] = [];
  const maybeDelete = createDeleter(cast);
  const requests = random.int(3, 6);
  for (let i = 0; i < requests; i++) {
    await scheduler.pause(random.chance(0.03) ? dayMs + random.int(-30_000, 30_000) : random.int(0, 40_000));
    const usable = cast.setup.keys.filter(({ access }) => access.isOpen());
    // Whoever finds that a key is no longer good takes another.
    if (!usable.includes(key) && usable.length > 0 && random.chance(0.8)) key = random.pick(usable);
    const request = drawNext(cast, key, sent);
    if (random.chance(0.03)) await askFirst(cast, request);
    sent.push(request);
    const copies = random.chance(0.12) ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => insist(cast, request)));
    await maybeDelete(cast, key);
  }
}

/** Mostly something new; sometimes what was sent before, or its idempotency key with another body. */
function drawNext({ world, nextNumber }: Cast, key: Key, sent: ClientRequest[]): ClientRequest {
  const { random, checker } = world;
  const deleted = sent.filter((request) => checker.deletions.hadKey(request));
  if (deleted.length > 0 && random.chance(0.3)) return random.pick(deleted);
  const earlier = sent.length > 0 && random.chance(0.25) ? random.pick(sent) : null;
  if (earlier !== null && random.chance(0.7)) {
    // Whether somebody waits is no part of what they ask for.
    return random.chance(0.8) ? earlier : { ...earlier, respondAsync: random.chance(world.profile.async) };
  }
  const idempotencyKey = earlier?.idempotencyKey ?? (random.chance(0.6) ? `once-${nextNumber()}` : null);
  const { async, references } = world.profile;
  return drawRequest(random, { key, idempotencyKey, async, references });
}

async function insist(cast: Cast, request: ClientRequest): Promise<void> {
  const { random, scheduler } = cast.world;
  for (let tries = 1; tries <= 4; tries++) {
    const reply = await send(cast, request);
    const again = reply === null || reply.status >= 500 || [409, 429].includes(reply.status);
    if (!again || !request.key.access.isOpen() || random.chance(0.2)) return;
    const waitMs = Number(reply?.headers['retry-after'] ?? random.int(1, 20)) * 1000;
    if (waitMs > 10 * 60_000) return;
    await scheduler.pause(waitMs + random.int(0, 500));
  }
}

async function send(cast: Cast, request: ClientRequest, chosen?: number): Promise<Reply | null> {
  const { world, functions, judge, skewsMs } = cast;
  const { random, history, counts, profile, scheduler } = world;
  const environment = chosen ?? random.int(0, functions.generate.length - 1);
  const run = newRun(`#${cast.nextNumber()} ${request.key.name}`, scheduler.now(), {
    kind: 'caller',
    mayFail: true,
    mayDie: true,
    skewMs: skewsMs[environment]!,
    environment: `create-generation ${environment}`,
  });
  const attempt: Attempt = { request, run, from: world.moment(), environment };
  judge.begin(attempt);
  const { license } = request.key.tenant;
  world.checker.creditLimits.begin(run, license.licenseId, request.credits);
  world.checker.flightLimits.begin(run, license.licenseId, 1);
  world.checker.keyBudgets.begin(run, request.key.stored.keyId, request.credits);
  history.note(
    run.name,
    `POST /generate ${request.credits} credits ${request.idempotencyKey ?? ''} (env ${environment})`,
  );
  counts.add('requests');
  scheduler.after(random.pick(functionTimeoutsMs), () => die(run));
  const reply = await call(run, functions.generate[environment], {
    method: 'POST',
    resource: '/generate',
    headers: headersOf(request),
    body: request.body,
  });
  if (reply === null) {
    history.note(run.name, '† its machine died');
    counts.add('runs that died');
    return null;
  }
  run.ended = true;
  const outcome = readReply(reply);
  noteOutcome(cast, attempt, outcome);
  judge.judge(attempt, outcome, reply);
  const lost = !world.isCalm() && random.chance(profile.lostAnswer);
  if (lost) {
    counts.add('fault: answer lost');
    history.note(run.name, '✗ answer lost');
  }
  if (outcome.status === 202) {
    if (!lost && random.chance(0.5)) await follow(cast, request.key, outcome.requestId);
  } else if ((lost || outcome.status >= 500) && random.chance(0.5))
    await fetchRecord(cast, request.key, outcome.requestId);
  return lost ? null : reply;
}

async function raiseLimit(licenses: Setup['stores']['licenses'], licenseId: string): Promise<void> {
  const { carried } = (await licenses.get(licenseId))!;
  const creditsLimit = 1_000_000;
  await licenses.update(licenseId, { creditsLimit, carried: carried && { ...carried, creditsLimit } });
}

/** Once nothing is wrong any more, every environment paints again: nothing that happened to it may last. */
export async function serveAgain(cast: Cast): Promise<void> {
  const { world, setup, functions } = cast;
  const key = setup.keys.find(({ access }) => access.isOpen());
  if (key === undefined) return;
  const { license } = key.tenant;
  const run = newRun('operator', world.scheduler.now());
  await currentRun.run(run, () => raiseLimit(setup.stores.licenses, license.licenseId));
  await currentRun.run(run, () => endBudget(cast, key));
  world.sleep.stayAwake();
  for (const environment of functions.generate.keys()) {
    const request = {
      ...drawRequest(world.random, { key, idempotencyKey: null, async: 0, references: 0.15 }),
      credits: 1,
      numOutputs: 1,
      body: smallBody,
    };
    const reply = await send(cast, request, environment);
    if (reply?.status !== 200)
      world.violations.push(`environment ${environment} answers ${reply?.body} though all is well`);
  }
}

function headersOf({ key, idempotencyKey, asEvents, respondAsync }: ClientRequest): Record<string, string> {
  return {
    authorization: `Bearer ${key.raw}`,
    ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
    ...(asEvents ? { accept: 'text/event-stream' } : {}),
    ...(respondAsync ? { prefer: 'respond-async' } : {}),
  };
}

function noteOutcome({ world }: Cast, { run }: Attempt, { status, code, requestId, answer }: Outcome): void {
  const replayed =
    answer !== null &&
    status === 200 &&
    requestId !== undefined &&
    world.checker.record(requestId)?.item.createdAtMs < run.startedMs - 5000;
  world.history.note(run.name, `→ ${status} ${code ?? ''} ${requestId}`);
  world.counts.add(
    `answer: ${status} ${code ?? (status === 202 ? 'accepted' : replayed ? 'replayed' : 'completed')}`,
  );
}

/** Looks at an accepted request until it is final, or until somebody else's patience ends. */
async function follow(cast: Cast, key: Key, requestId: string): Promise<void> {
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
async function askFirst(cast: Cast, { key, body, respondAsync }: ClientRequest): Promise<void> {
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

/** GET /generate/{requestId}: what is stored is what is said, and only its owner hears it. */
async function fetchRecord(cast: Cast, key: Key, requestId: string): Promise<Reply | null> {
  const { world, functions } = cast;
  const run = newRun(`#${cast.nextNumber()} ${key.name} GET`, world.scheduler.now(), { mayFail: true });
  const from = world.moment();
  const reply = await call(run, functions.get, {
    method: 'GET',
    resource: '/generate/{requestId}',
    pathParameters: { requestId },
    headers: { authorization: `Bearer ${key.raw}` },
  });
  if (reply === null) return null;
  const body = JSON.parse(reply.body);
  world.history.note(run.name, `→ ${reply.status} ${body.code ?? body.status}`);
  world.counts.add('re-fetches');
  const known = [401, 404, 429, 503].includes(reply.status);
  const wrong =
    reply.status === 200
      ? world.checker.deletions.wasToldBefore(requestId, from)
        ? `${requestId} was read, which was deleted before`
        : wrongRecord(world, requestId, body, reply)
      : known
        ? null
        : `GET answered ${reply.body}`;
  if (wrong !== null) {
    world.violations.push(`${run.name}: ${wrong}`);
    world.history.note('!!', wrong);
  }
  return reply;
}

const ranks = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'];

function wrongRecord(
  { checker }: World,
  requestId: string,
  body: Record<string, any>,
  { headers }: Reply,
): string | null {
  const { item } = checker.record(requestId)!;
  const saysWhen = Number(headers['retry-after']) > 0;
  if (saysWhen === isFinal(body.status))
    return `a ${body.status} request with Retry-After ${headers['retry-after']}`;
  const charged = body.status === 'COMPLETED' ? item.credits : 0;
  if (body.creditsCharged !== charged)
    return `a ${body.status} request with ${body.creditsCharged} credits charged`;
  const links = body.status === 'COMPLETED' ? item.numOutputs : 0;
  if (body.outputs.length !== links) return `a ${body.status} request with ${body.outputs.length} links`;
  // It may have gone on since it was read, but never back, and not at all from a final state.
  const wentBack = ranks.indexOf(body.status) > ranks.indexOf(item.status);
  return wentBack || (body.completedAt !== null && body.status !== item.status)
    ? `${body.status} was read of what is ${item.status}`
    : null;
}
