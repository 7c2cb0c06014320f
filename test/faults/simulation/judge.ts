import { idempotencyHours } from '../../../shared/generations/idempotency.ts';
import { basePath } from '../../../shared/routes/api.ts';
import type { Checker } from './checker.ts';
import type { Reply } from './functions.ts';
import type { Outside } from './outside.ts';
import type { ClientRequest, Outcome } from './requests.ts';
import type { Run } from './runs.ts';
import type { Setup } from './setup.ts';

/** What is said before credits are asked for. */
const saidBefore = ['TIER_LIMIT', 'CREDIT_LIMIT_EXCEEDED', 'IDENTITY_UNAVAILABLE', 'IDEMPOTENCY_MISMATCH'];

/** An attempt: one request, sent once. */
export interface Attempt {
  request: ClientRequest;
  run: Run;
  from: number;
}

/** Holds answers against what was true while they were made. */
export function createJudge(outside: Outside, { identityAccess }: Setup, checker: Checker) {
  const { complain, must, violation, profile } = outside;
  const { limits, deletions, unpaid, extra } = checker;
  /** By caller and idempotency key: what was promised last, and when. */
  const promised = new Map<string, { requestId: string; atMs: number }>();
  /** What callers heard of requests that gave them no image: whether they were charged all the same. */
  const heard: { requestId: string; code: string; charged: boolean }[] = [];
  /** All callers' runs: those that ended, those that died and those that run. */
  const runs: Run[] = [];

  /** Images, from this request or from an earlier one with its idempotency key. */
  function delivered({ request, run, from }: Attempt, { answer, requestId }: Outcome): void {
    const { name, startedMs } = run;
    const { requestId: answered, outputs, usage, identityVersion } = answer!;
    const record = checker.record(answered);
    const { status, createdAtMs = 0 } = record?.item ?? { status: 'not stored' };
    const wasDeleted = deletions.wasKnownBefore(answered, from);
    must(!wasDeleted, `${name}: answered with ${answered}, which was deleted before`);
    must(status === 'COMPLETED', `${name}: 200 for ${requestId}, which is ${status}`);
    const isAll = outputs.length === request.numOutputs && usage.creditsCharged === request.credits;
    must(isAll, `${name}: ${outputs.length} outputs, ${usage.creditsCharged} credits charged`);
    const isPinned = [null, identityVersion].includes(request.pinned);
    must(isPinned, `${name}: version ${request.pinned} was asked for, and ${identityVersion} made it`);
    // What was young enough when the request began may grow old while a machine stands still.
    const wasOldMs = startedMs - createdAtMs;
    const isYoung = wasOldMs <= idempotencyHours * 3600_000 + 10_000;
    must(isYoung, `${name}: answered with what was ${wasOldMs} ms old when it began`);
    if (request.idempotencyKey === null) return;
    const promise = `${request.key.name} ${request.idempotencyKey}`;
    const before = promised.get(promise);
    const isKept =
      before === undefined ||
      before.requestId === answered ||
      createdAtMs - before.atMs >= idempotencyHours * 3600_000;
    must(isKept, `${name}: its idempotency key answered with ${before?.requestId} before`);
    promised.set(promise, { requestId: answered, atMs: createdAtMs });
  }

  /** 202: its credits are held, or it has ended since. */
  function accepted({ request, run }: Attempt, { answer, requestId }: Outcome, { headers }: Reply): void {
    const record = checker.record(requestId);
    if (record === undefined) return violation(`${run.name}: accepted ${requestId}, which is not stored`);
    const { deadlineMs, createdAtMs, credits } = record.item;
    const expected = { requestId, status: 'QUEUED', creditsReserved: request.credits };
    const isAnswer =
      JSON.stringify(answer) === JSON.stringify(expected) &&
      headers['preference-applied'] === 'respond-async' &&
      headers.location === `${basePath}/generate/${requestId}` &&
      Number(headers['retry-after']) > 0;
    must(isAnswer, `${run.name}: accepted with ${JSON.stringify({ answer, headers })}`);
    const isSo =
      deadlineMs - createdAtMs === profile.asyncDeadlineSeconds * 1000 && credits === request.credits;
    must(isSo, `${run.name}: accepted until ${deadlineMs} for ${credits} credits`);
    must(checker.runs.isSent(requestId), `${run.name}: accepted, and no message was sent to have it run`);
  }

  /** Why references should not have been fetched yet; null when that was the last thing before the reservation. */
  function fetchedTooEarly({ request, run }: Attempt, code: string): string | null {
    const { calls } = run;
    const fetched = calls.indexOf('fetch references');
    if (fetched === -1) return null;
    if (!calls.slice(0, fetched).includes('read period'))
      return 'its references were fetched before anybody looked at its credits';
    const { licenseId } = request.key.tenant.license;
    // Credits that expired meanwhile are missed at once.
    const isMissed = code === 'CREDIT_LIMIT_EXCEEDED' && extra.someExpired(licenseId, run);
    return saidBefore.includes(code) && !calls.includes('reserve') && !isMissed
      ? `its references were fetched, and then it was refused with ${code}`
      : null;
  }

  /** Whether a refusal is true. What nobody should ever read is not. */
  function isTrue({ request, run, from }: Attempt, { code, sentence, requestId }: Outcome): boolean {
    const { access, tenant, stored } = request.key;
    const { licenseId } = tenant.license;
    const met = run.faults.map(({ fault }) => fault);
    switch (code) {
      case 'INVALID_API_KEY':
        return access.mayHaveBeen(false, from) || tenant.access.mayHaveBeen(false, from);
      case 'CREDIT_LIMIT_EXCEEDED':
        if (sentence.includes("this key's own")) return limits.wasTight(run, `budget of ${stored.keyId}`);
        return limits.wasTight(run, `all credits of ${licenseId}`) || extra.someExpired(licenseId, run);
      case 'INVALID_PARAMETERS':
        return run.hasUnusableReference || met.includes('fails before it begins');
      case 'CONTENT_REFUSED':
        return met.includes('refuses the content');
      case 'TIER_LIMIT':
        return true;
      case 'RATE_LIMITED':
        if (sentence.includes('without an image')) return unpaid.refusedRightly(run, licenseId);
        if (sentence.startsWith('This key has')) return limits.wasTight(run, `places of ${stored.keyId}`);
        return !sentence.includes('in flight') || limits.wasTight(run, `in flight of ${licenseId}`);
      case 'IDENTITY_UNAVAILABLE':
        return identityAccess.mayHaveBeen(false, from);
      case 'IDEMPOTENCY_IN_PROGRESS': {
        const first = checker.record(requestId);
        return first !== undefined && (first.endedAtMs ?? Infinity) >= run.startedMs;
      }
      case 'REQUEST_NOT_FOUND':
        return deletions.hadKey(request) || deletions.isGone(requestId);
      case 'CANCELLED':
        return checker.record(requestId)?.item.errorCode === 'CANCELLED';
      case 'IDEMPOTENCY_MISMATCH':
        return request.idempotencyKey !== null;
      case 'SERVICE_UNAVAILABLE':
        // A breaker remembers what others met, also once that is over.
        return runs.some(({ environment, faults }) => environment === run.environment && faults.length > 0);
      case 'TIMEOUT':
      case 'GENERATION_FAILED':
        // Who finds no capacity hears that, whatever else becomes of it.
        return met.some((fault) => fault !== 'scaled to zero' && fault !== 'no capacity');
      default:
        return false;
    }
  }

  function refused(attempt: Attempt, outcome: Outcome, code: string): void {
    const { run } = attempt;
    const { status, sentence, requestId } = outcome;
    complain(run.name, fetchedTooEarly(attempt, code));
    must(isTrue(attempt, outcome), `${run.name}: ${status} ${code}, which was not true (${sentence})`);
    const holds = checker.record(requestId)?.endedAtMs === null;
    // A reservation whose answer was lost is looked for, and is found unless it is still on its way.
    const isFindable = run.faults.every(
      ({ call, fault }) => call === 'enqueue' || (call === 'reserve' && fault !== 'applied late'),
    );
    if (holds && isFindable && code !== 'IDEMPOTENCY_IN_PROGRESS')
      violation(`${run.name}: answered ${code} and still holds credits`);
    // One sentence leaves open whether the caller was charged, and says where to look.
    run.isUnsure = sentence.includes('unless it completed');
    if ((status >= 500 || ['CANCELLED', 'CONTENT_REFUSED'].includes(code)) && !run.isUnsure)
      heard.push({ requestId, code, charged: sentence.includes('was charged, but') });
  }

  return {
    begin: ({ run }: Attempt) => void runs.push(run),
    /** An answer arrived. */
    judge(attempt: Attempt, outcome: Outcome, reply: Reply): void {
      const { request, run, from } = attempt;
      const { code, status } = outcome;
      const { access, tenant } = request.key;
      const isRefused = code === 'INVALID_API_KEY' || code === 'SERVICE_UNAVAILABLE';
      const hadAccess = access.mayHaveBeen(true, from) && tenant.access.mayHaveBeen(true, from);
      must(
        isRefused || hadAccess,
        `${run.name}: accepted with ${code ?? 200} though its access had ended before it began`,
      );
      if (status === 202) accepted(attempt, outcome, reply);
      else if (code === null) delivered(attempt, outcome);
      else refused(attempt, outcome, code);
    },
    /** Once nothing runs: who heard that nothing was charged, or something was, heard the truth. */
    atRest(): void {
      for (const { requestId, code, charged } of heard) {
        const isCharged = checker.record(requestId)?.item.status === 'COMPLETED';
        const not = isCharged ? '' : 'not ';
        must(
          isCharged === charged,
          `request ${requestId}: its caller heard ${code}, and it was ${not}charged`,
        );
      }
    },
  };
}
