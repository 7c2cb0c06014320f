import { clearUnpaid } from '../../../shared/generations/unpaid-part.ts';
import { isFinal } from '../../../shared/generations/generation.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { call, type Reply } from './functions.ts';
import type { Attempt } from './judge.ts';
import { endBudget } from './operators.ts';
import { seededRandom } from './random.ts';
import { drawRequest, readReply, smallBody, type ClientRequest } from './requests.ts';
import { currentRun, Run } from './runs.ts';
import type { Key } from './setup.ts';
import type { Simulation } from './simulation.ts';

/** How long Lambda lets the function run; other hosts let it be as late as it likes. */
const functionTimeoutsMs = [90_000, 400_000];
const dayMs = 24 * 3600_000;

/** A developer's program: sends requests, tries again what failed, fetches what it missed. */
export async function runClient(simulation: Simulation, firstKey: Key): Promise<void> {
  let key = firstKey;
  const { random, scheduler, keys } = simulation;
  const sent: ClientRequest[] = [];
  const maybeDelete = createDeleter(simulation);
  const requests = random.int(3, 6);
  for (let i = 0; i < requests; i++) {
    await scheduler.pause(random.chance(0.03) ? dayMs + random.int(-30_000, 30_000) : random.int(0, 40_000));
    const usable = keys.filter(({ access }) => access.isOpen());
    // Whoever finds that a key is no longer good takes another.
    if (!usable.includes(key) && usable.length > 0 && random.chance(0.8)) key = random.pick(usable);
    const request = drawNext(simulation, key, sent);
    if (random.chance(0.03)) await askFirst(simulation, request);
    sent.push(request);
    // The last credits of a pack are wanted by several at once.
    const copies = simulation.profile.hasExtraCredits ? random.int(1, 4) : random.chance(0.12) ? 2 : 1;
    await Promise.all(Array.from({ length: copies }, () => insist(simulation, request)));
    await maybeDelete(key);
  }
}

/** Mostly something new; sometimes what was sent before, or its idempotency key with another body. */
function drawNext(simulation: Simulation, key: Key, sent: ClientRequest[]): ClientRequest {
  const { random, checker, profile, nextNumber } = simulation;
  const deleted = sent.filter((request) => checker.deletions.hadKey(request));
  if (deleted.length > 0 && random.chance(0.3)) return random.pick(deleted);
  const earlier = sent.length > 0 && random.chance(0.25) ? random.pick(sent) : null;
  if (earlier !== null && random.chance(0.7)) {
    // Whether somebody waits is no part of what they ask for.
    return random.chance(0.8) ? earlier : { ...earlier, respondAsync: random.chance(profile.async) };
  }
  const idempotencyKey = earlier?.idempotencyKey ?? (random.chance(0.6) ? `once-${nextNumber()}` : null);
  return drawRequest(random, key, idempotencyKey, profile);
}

async function insist(simulation: Simulation, request: ClientRequest): Promise<void> {
  const { random, scheduler } = simulation;
  for (let tries = 1; tries <= 4; tries++) {
    const reply = await send(simulation, request);
    const again = reply === null || reply.status >= 500 || [409, 429].includes(reply.status);
    if (!again || !request.key.access.isOpen() || random.chance(0.2)) return;
    const waitMs = Number(reply?.headers['retry-after'] ?? random.int(1, 20)) * 1000;
    if (waitMs > 10 * 60_000) return;
    await scheduler.pause(waitMs + random.int(0, 500));
  }
}

async function send(simulation: Simulation, request: ClientRequest, chosen?: number): Promise<Reply | null> {
  const { functions, judge, checker, skewsMs, random, note, profile, scheduler } = simulation;
  const { key, credits, idempotencyKey } = request;
  const environment = chosen ?? random.int(0, functions.generate.length - 1);
  const run = new Run(`#${simulation.nextNumber()} ${key.name}`, scheduler.now(), {
    kind: 'caller',
    mayFail: true,
    mayDie: true,
    skewMs: skewsMs[environment]!,
    environment: `create-generation ${environment}`,
  });
  const attempt: Attempt = { request, run, from: simulation.moment() };
  judge.begin(attempt);
  const { licenseId } = key.tenant.license;
  checker.limits.begin(run, `credits of ${licenseId}`, credits);
  checker.extra.look(licenseId);
  checker.limits.begin(run, `all credits of ${licenseId}`, credits);
  checker.limits.begin(run, `in flight of ${licenseId}`, 1);
  checker.limits.begin(run, `budget of ${key.stored.keyId}`, credits);
  checker.limits.begin(run, `places of ${key.stored.keyId}`, 1);
  note(run.name, `POST /generate ${credits} credits ${idempotencyKey ?? ''} (env ${environment})`);
  scheduler.after(random.pick(functionTimeoutsMs), () => run.die());
  const reply = await call(run, functions.generate[environment], routes.createGeneration, {
    key: key.raw,
    headers: {
      ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      ...(request.asEvents ? { accept: 'text/event-stream' } : {}),
      ...preferenceOf(request),
    },
    body: request.body,
  });
  if (reply === null) {
    note(run.name, '† its machine died');
    return null;
  }
  const outcome = readReply(reply);
  const { status, code, requestId } = outcome;
  note(run.name, `→ ${status} ${code ?? ''} ${requestId}`);
  judge.judge(attempt, outcome, reply);
  const lost = !simulation.isCalm() && random.chance(profile.lostAnswer);
  if (lost) note(run.name, '✗ answer lost');
  if (status === 202 && !lost && random.chance(0.5)) await follow(simulation, key, requestId);
  const isMissed = status !== 202 && (lost || status >= 500);
  if (isMissed && random.chance(0.5)) await fetchRecord(simulation, key, requestId);
  return lost ? null : reply;
}

const preferenceOf = ({ respondAsync }: ClientRequest) => (respondAsync ? { prefer: 'respond-async' } : {});

/** Once nothing is wrong any more, every environment generates again: nothing that happened to it may last. */
export async function serveAgain(simulation: Simulation): Promise<void> {
  const { keys, stores, scheduler, functions, random, capacity, must, checker } = simulation;
  const key = keys.find(({ access }) => access.isOpen());
  if (key === undefined) return;
  const { licenseId } = key.tenant.license;
  await currentRun.run(new Run('operator', scheduler.now()), async () => {
    const { carried } = (await stores.licenses.get(licenseId))!;
    const creditsLimit = 1_000_000;
    await stores.licenses.update(licenseId, {
      creditsLimit,
      carried: carried && { ...carried, creditsLimit },
    });
    await endBudget(simulation, key);
    checker.unpaid.forgotten(licenseId);
    await clearUnpaid(stores.table, licenseId, 'operator:ada', scheduler.now());
  });
  capacity.keep();
  for (const environment of functions.generate.keys()) {
    const drawn = drawRequest(random, key, null, { async: 0, references: 0.15, hasVersions: false });
    const request = { ...drawn, credits: 1, numOutputs: 1, body: smallBody };
    const reply = await send(simulation, request, environment);
    must(reply?.status === 200, `environment ${environment} answers ${reply?.body} though all is well`);
  }
}

/** Looks at an accepted request until it is final, or until somebody else's patience ends. */
async function follow(simulation: Simulation, key: Key, requestId: string): Promise<void> {
  const { random, scheduler } = simulation;
  let waitMs = 2000;
  for (let looks = 1; looks <= 12; looks++) {
    await scheduler.pause(waitMs + random.int(0, 4000 * looks));
    const reply = await fetchRecord(simulation, key, requestId);
    if (reply === null) continue;
    if (reply.status === 200 && isFinal(JSON.parse(reply.body).status)) return;
    waitMs = Number(reply.headers['retry-after'] ?? 1) * 1000;
    if (!key.access.isOpen() || waitMs > 60_000) return;
  }
}

/** Asks what a request would be. Nothing is stored for it. */
async function askFirst(simulation: Simulation, request: ClientRequest): Promise<void> {
  const { functions, scheduler, note, must } = simulation;
  const { key, body } = request;
  const run = new Run(`#${simulation.nextNumber()} ${key.name} dry`, scheduler.now(), {
    mayFail: true,
    environment: 'create-generation 0',
  });
  const asked = { key: key.raw, query: { dryRun: ['true'] }, headers: preferenceOf(request), body };
  const reply = await call(run, functions.generate[0], routes.createGeneration, asked);
  if (reply === null) return;
  note(run.name, `→ ${reply.status}`);
  const write = run.calls.find((name) => ['reserve', 'enqueue', 'settle', 'start'].includes(name));
  const isKnown = [200, 400, 401, 403, 429, 503].includes(reply.status);
  const did = `a dry run answered ${reply.status} and did ${write ?? 'nothing'}`;
  must(isKnown && write === undefined, `${run.name}: ${did}`);
}

/** GET /generate/{requestId}: what is stored is what is said, and only its owner learns it. */
async function fetchRecord(simulation: Simulation, key: Key, requestId: string): Promise<Reply | null> {
  const { functions, scheduler, moment, note, complain } = simulation;
  const run = new Run(`#${simulation.nextNumber()} ${key.name} GET`, scheduler.now(), { mayFail: true });
  const from = moment();
  const reply = await call(run, functions.get, routes.getGeneration, { key: key.raw, requestId });
  if (reply === null) return null;
  const { code, status } = JSON.parse(reply.body);
  note(run.name, `→ ${reply.status} ${code ?? status}`);
  complain(run.name, wrongRecord(simulation, requestId, from, reply));
  await readAsAnother(simulation, key, requestId);
  return reply;
}

/** A key with access `own` asks for what another key of its license made. */
async function readAsAnother(simulation: Simulation, { stored }: Key, requestId: string): Promise<void> {
  const { keys, functions, scheduler, must } = simulation;
  const { keyId, licenseId } = stored;
  const reader = keys.find(
    (key) => key.stored.access === 'own' && key.stored.licenseId === licenseId && key.stored.keyId !== keyId,
  );
  if (reader === undefined) return;
  const run = new Run(`#${simulation.nextNumber()} ${reader.name} GET`, scheduler.now(), { mayFail: true });
  const reply = await call(run, functions.get, routes.getGeneration, { key: reader.raw, requestId });
  must(reply?.status !== 200, `${run.name}: ${requestId} is another key's, and it was read`);
}

const ranks = ['QUEUED', 'PROCESSING', 'COMPLETED', 'FAILED', 'TIMEOUT'];

function wrongRecord(
  { checker }: Simulation,
  requestId: string,
  from: number,
  { status: answered, headers, body }: Reply,
): string | null {
  if ([401, 404, 429, 503].includes(answered)) return null;
  if (answered !== 200) return `GET answered ${body}`;
  if (checker.deletions.wasKnownBefore(requestId, from))
    return `${requestId} was read, which was deleted before`;
  const { item } = checker.record(requestId)!;
  const { status, creditsCharged, outputs, completedAt } = JSON.parse(body);
  const isCompleted = status === 'COMPLETED';
  if (Number(headers['retry-after']) > 0 === isFinal(status))
    return `a ${status} request with Retry-After ${headers['retry-after']}`;
  if (creditsCharged !== (isCompleted ? item.credits : 0))
    return `a ${status} request with ${creditsCharged} credits charged`;
  if (outputs.length !== (isCompleted ? item.numOutputs : 0))
    return `a ${status} request with ${outputs.length} links`;
  // It may have gone on since it was read, but never back, and not at all from a final state.
  const wentBack = ranks.indexOf(status) > ranks.indexOf(item.status);
  return wentBack || (completedAt !== null && status !== item.status)
    ? `${status} was read of what is ${item.status}`
    : null;
}

/** Deletes a request of the key's license now and then, sometimes twice at once, sometimes one that runs. */
function createDeleter(simulation: Simulation) {
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
  const { checker, bucket, moment, complain } = simulation;
  const wasEnded = checker.record(requestId)!.endedAtMs !== null;
  const before = bucket.objectsOf(requestId);
  const reply = await ask(simulation, key, requestId);
  if (reply === null) return;
  const left = bucket.objectsOf(requestId).filter((object) => before.includes(object));
  const isGone = checker.deletions.isGone(requestId);
  const isOwn = checker.record(requestId)!.item.keyId === key.stored.keyId;
  // Budgets come and go meanwhile, and who has one deletes only what is its own.
  const mayBeKept = !isOwn && (key.stored.access === 'own' || simulation.profile.hasBudgets);
  if (mayBeKept && reply.status === 404) return;
  const isAnothers = !isOwn && key.stored.access === 'own' && !isExcuse(reply.status);
  const wrong = isAnothers ? "it is another key's" : wrongAnswer(reply.status, { isGone, left, wasEnded });
  complain(`${key.name}: DELETE of ${requestId} answered ${reply.status}`, wrong);
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
  const { scheduler, functions, note } = simulation;
  const name = `#${simulation.nextNumber()} ${key.name} DELETE`;
  const run = new Run(name, scheduler.now(), { mayFail: true, mayDie: true });
  const reply = await call(run, functions.remove, routes.deleteGeneration, { key: key.raw, requestId });
  note(name, `→ ${reply?.status ?? '†'} ${requestId}`);
  return reply;
}

/** A key that ended, too many requests, or a fault. */
const isExcuse = (status: number): boolean => [401, 429, 503].includes(status);
