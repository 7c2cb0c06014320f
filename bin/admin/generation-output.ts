import { isoTime } from '../../shared/base/clock.ts';
import type { Generation } from '../../shared/generations/generation.ts';
import { storedMembers } from '../../shared/generations/answers.ts';
import { Failure } from '../common/failure.ts';
import type { Session } from './command.ts';
import { getLicense } from './license.ts';

/** The lease's end is stored only while it runs. */
export function leaseUntilMs(generation: Generation): number | null {
  return generation.leaseUntilMs === 0 ? null : generation.leaseUntilMs;
}

/** As GET /generate/{requestId} shows it, without links and with the operator's own members. */
export function generationJson(generation: Generation): Record<string, unknown> {
  return {
    ...storedMembers(generation),
    requestId: generation.requestId,
    // The playground's caller too, which its owner does not see.
    keyId: generation.keyId,
    creditsReserved: generation.credits,
    periodStart: isoTime(generation.periodStartMs),
    deadline: isoTime(generation.deadlineMs),
    leaseUntil: isoTime(leaseUntilMs(generation)),
    expiresAt: isoTime(generation.expiresAtMs),
  };
}

/** @returns what to tell of a request that is not there. @throws Failure when there is not even its license. */
export async function missingRequest(
  session: Session,
  licenseId: string,
  requestId: string,
): Promise<Failure> {
  await getLicense(session, licenseId);
  return new Failure(`The license ${licenseId} has no request ${requestId}.`);
}
