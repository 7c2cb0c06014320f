import { idempotencyHours } from '../../../shared/generations/idempotency.ts';
import type { Functions, Reply } from './functions.ts';
import { wrongAcceptance, type Outcome, type ClientRequest } from './requests.ts';
import type { Run } from './runs.ts';
import type { Setup } from './setup.ts';
import type { World } from './world.ts';

/** What is said before credits are asked for. */
const saidBefore = ['TIER_LIMIT', 'CREDIT_LIMIT_EXCEEDED', 'IDENTITY_UNAVAILABLE', 'IDEMPOTENCY_MISMATCH'];

/** Why references should not have been fetched yet; null when that was the last thing before the reservation. */
function fetchedTooEarly({ calls }: Run, code: string | null): string | null {
  const fetched = calls.indexOf('fetch references');
  if (fetched === -1) return null;
  if (!calls.slice(0, fetched).includes('read period'))
    return 'its references were fetched before anybody looked at its credits';
  return code !== null && saidBefore.includes(code) && !calls.includes('reserve')
    ? `its references were fetched, and then it was refused with ${code}`
    : null;
}

export type Judge = ReturnType<typeof createJudge>;

/** An attempt: one request, sent once. */
export interface Attempt {
  request: ClientRequest;
  run: Run;
  from: number;
  /** Which environment of the function answers. */
  environment: number;
}

/** Holds answers against what was true while they were made. */
export function createJudge(world: World, { identityAccess }: Setup) {
  /** By caller and idempotency key: what was promised last, and when. */
  const promised = new Map<string, { requestId: string; atMs: number; body: string }>();
  /** What callers were told of requests that gave them no image: whether they were charged all the same. */
  const told: { requestId: string; code: string; charged: boolean }[] = [];
  /** By environment: those that ended, those that died and those that run. */
  const runs = new Map<number, Run[]>();
  const { checker } = world;

  const violation = (sentence: string) => {
    world.violations.push(sentence);
    world.history.note('!!', sentence);
  };

  function delivered({ request, run, from }: Attempt, { answer, requestId }: Outcome): void {
    if (checker.deletions.wasToldBefore(answer!.requestId, from)) {
      violation(`${run.name}: answered with ${answer!.requestId}, which was deleted before`);
    }
    const record = checker.record(answer!.requestId);
    if (record?.item.status !== 'COMPLETED') {
      violation(`${run.name}: 200 for ${requestId}, which is ${record?.item.status ?? 'not stored'}`);
    }
    if (answer!.outputs.length !== request.numOutputs || answer!.usage.creditsCharged !== request.credits) {
      violation(
        `${run.name}: ${answer!.outputs.length} outputs, ${answer!.usage.creditsCharged} credits charged`,
      );
    }
    // What was young enough when the request began may grow old while a machine stands still.
    const wasOldMs = run.startedMs - (record?.item.createdAtMs ?? 0);
    if (wasOldMs > idempotencyHours * 3600_000 + 10_000)
      violation(`${run.name}: answered with what was ${wasOldMs} ms old when it began`);
    if (request.idempotencyKey === null) return;
    const name = `${request.key.name} ${request.idempotencyKey}`;
    const before = promised.get(name);
    const hours = ((record?.item.createdAtMs ?? 0) - (before?.atMs ?? 0)) / 3600_000;
    if (before !== undefined && before.requestId !== answer!.requestId && hours < idempotencyHours) {
      violation(`${run.name}: its idempotency key answered with ${before.requestId} before`);
    }
    promised.set(name, {
      requestId: answer!.requestId,
      atMs: record?.item.createdAtMs ?? 0,
      body: request.body,
    });
  }

  /** 202: its credits are held, or it has ended since. */
  function accepted({ request, run }: Attempt, outcome: Outcome, reply: Reply): void {
    const record = checker.record(outcome.requestId);
    if (record === undefined)
      return violation(`${run.name}: accepted ${outcome.requestId}, which is not stored`);
    const { deadlineMs, createdAtMs, credits } = record.item;
    const wrong = wrongAcceptance(reply, outcome, request.credits);
    if (wrong !== null) violation(`${run.name}: accepted, but ${wrong}`);
    if (deadlineMs - createdAtMs !== world.profile.asyncDeadlineSeconds * 1000 || credits !== request.credits)
      violation(`${run.name}: accepted until ${deadlineMs} for ${credits} credits`);
    if (!run.calls.includes('hand over')) violation(`${run.name}: accepted, and nobody was told to run it`);
  }

  /** Why a refusal is not true, null when it is. */
  function untrue(
    { request, run, from, environment }: Attempt,
    { code, sentence, requestId }: Outcome,
  ): string | null {
    const now = world.moment();
    const { key } = request;
    const closed = [key.access, key.tenant.access].some((access) =>
      access.possible(from, now).includes(false),
    );
    switch (code) {
      case 'INVALID_API_KEY':
        return closed ? null : 'its key was good';
      case 'CREDIT_LIMIT_EXCEEDED':
        if (!sentence.includes("this key's own"))
          return checker.creditLimits.wasTight(run) ? null : 'there was room all the time';
        world.counts.add("refused over a key's budget");
        return checker.keyBudgets.wasTight(run) ? null : 'its budget had room all the time';
      case 'INVALID_PARAMETERS':
        return run.hasUnusableReference || run.faults.some(({ fault }) => fault === 'fails before it begins')
          ? null
          : 'there was nothing wrong with it';
      case 'TIER_LIMIT':
        return null;
      case 'RATE_LIMITED':
        if (!sentence.includes('in flight')) return null;
        return checker.flightLimits.wasTight(run) ? null : 'fewer were in flight all the time';
      case 'IDENTITY_UNAVAILABLE':
        return identityAccess.possible(from, now).includes(false) ? null : 'the identity had a model';
      case 'IDEMPOTENCY_IN_PROGRESS': {
        const first = checker.record(requestId);
        if (first === undefined) return 'nothing is known of a first request';
        return (first.endedAtMs ?? Infinity) >= run.startedMs ? null : 'the first request had ended before';
      }
      case 'REQUEST_NOT_FOUND':
        return checker.deletions.hadKey(request) ? null : 'nothing with its key was deleted';
      case 'IDEMPOTENCY_MISMATCH':
        return request.idempotencyKey === null ? 'it had no idempotency key' : null;
      case 'SERVICE_UNAVAILABLE':
        // A breaker remembers what others met, also once that is over.
        return runs.get(environment)!.some(({ faults }) => faults.length > 0) ? null : 'nothing was wrong';
      case 'TIMEOUT':
      case 'GENERATION_FAILED':
        // Who finds no capacity is told so, whatever else becomes of that.
        return run.faults.some(({ fault }) => !['asleep', 'no capacity'].includes(fault))
          ? null
          : `nothing was wrong (${sentence})`;
      default:
        return 'nobody should ever read this';
    }
  }

  return {
    begin({ environment, run }: Attempt): void {
      runs.set(environment, [...(runs.get(environment) ?? []), run]);
    },
    /** An answer arrived. */
    judge(attempt: Attempt, outcome: Outcome, reply: Reply): void {
      const { request, run, from } = attempt;
      const { key } = request;
      const open = (access: typeof key.access) => access.possible(from, world.moment()).includes(true);
      const refused = outcome.code === 'INVALID_API_KEY' || outcome.code === 'SERVICE_UNAVAILABLE';
      if (!refused && !(open(key.access) && open(key.tenant.access))) {
        violation(
          `${run.name}: accepted with ${outcome.code ?? 200} though its access had ended before it began`,
        );
      }
      if (outcome.status === 202) return accepted(attempt, outcome, reply);
      if (outcome.code === null) return delivered(attempt, outcome);
      const early = fetchedTooEarly(run, outcome.code);
      if (early !== null) violation(`${run.name}: ${early}`);
      const why = untrue(attempt, outcome);
      if (why !== null) violation(`${run.name}: ${outcome.status} ${outcome.code}, but ${why}`);
      const { status, code, sentence, requestId } = outcome;
      const record = checker.record(requestId);
      const holds = record !== undefined && record.endedAtMs === null;
      // A reservation whose answer was lost is looked for, and is found unless it is still on its way.
      const isFindable = run.faults.every(
        ({ call, fault }) => call === 'hand over' || (call === 'reserve' && fault !== 'applied late'),
      );
      if (holds && isFindable && code !== 'IDEMPOTENCY_IN_PROGRESS') {
        violation(`${run.name}: answered ${code} and still holds credits`);
      }
      // One sentence leaves open whether the caller was charged, and says where to look.
      const unsure = sentence.includes('unless it completed');
      run.isUnsure = unsure;
      if (status >= 500 && !unsure)
        told.push({ requestId, code, charged: sentence.includes('was charged, but') });
    },
    /** Once nothing runs: who was told that nothing was charged, or something was, was told the truth. */
    atRest(): void {
      for (const { requestId, code, charged } of told) {
        const isCharged = checker.record(requestId)?.item.status === 'COMPLETED';
        if (isCharged === charged) continue;
        violation(
          `request ${requestId}: its caller was told ${code}, and it was ${isCharged ? '' : 'not '}charged`,
        );
      }
    },
  };
}

/** Who plays in a world, and with what. */
export interface Cast {
  world: World;
  setup: Setup;
  functions: Functions;
  judge: Judge;
  /** By how much each environment's clock is wrong. */
  skewsMs: number[];
  nextNumber(): number;
}
