import { isoTime } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import { counted, waitInWords } from '../base/words.ts';
import type { CreditPeriod } from '../licenses/credit-period.ts';
import { mayHaveExtra } from '../licenses/extra-credits.ts';
import type { License } from '../licenses/license.ts';
import { unpaidInWords, type UnpaidRefusal } from '../licenses/unpaid-runs.ts';
import type { Generation } from './generation.ts';

/** A request as it would be stored now, and the period that would hold its credits. */
export interface InPeriod {
  generation: Generation;
  period: CreditPeriod;
}

export function overLimit(request: InPeriod, license: Pick<License, 'extraUntilMs'>): ServiceError {
  const extra = mayHaveExtra(license, request.generation.createdAtMs) ? ' and of its extra credits' : '';
  return creditRefusal(request, `this month's ${request.period.creditsLimit}${extra}`);
}

/** The license has the credits, but its owner gave the key a smaller part of them. */
export function overKeyBudget(request: InPeriod, keyBudget: number): ServiceError {
  return creditRefusal(request, `this key's own monthly limit of ${keyBudget}`);
}

function creditRefusal({ generation, period }: InPeriod, whole: string): ServiceError {
  const { credits, createdAtMs } = generation;
  const retryAfterSeconds = Math.ceil((period.endMs - createdAtMs) / 1000);
  return new ServiceError(
    'CREDIT_LIMIT_EXCEEDED',
    `This request costs ${counted(credits, 'credit')}, more than is left of ${whole}. ` +
      `The period resets at ${isoTime(period.endMs)}.`,
    { retryAfterSeconds },
  );
}

export function tooManyInFlight(whose: 'license' | 'key', most: number): ServiceError {
  return new ServiceError(
    'RATE_LIMITED',
    `This ${whose} has ${counted(most, 'request')} in flight, as many as it may have at a time. ` +
      'Try again when one has finished.',
    { retryAfterSeconds: 1 },
  );
}

/** Its requests had the model called and were not paid for: they are named, because a caller can mend them. */
export function tooManyUnpaid({ runs, minutes, untilMs }: UnpaidRefusal, nowMs: number): ServiceError {
  const retryAfterSeconds = Math.ceil((untilMs - nowMs) / 1000);
  return new ServiceError(
    'RATE_LIMITED',
    `In ${minutes < 60 ? `${minutes} minutes` : `${minutes / 60} hours`} ${runs.length} requests of this license used the ` +
      `model without an image: ${unpaidInWords(runs)}. Try again in ${waitInWords(retryAfterSeconds)}.`,
    { retryAfterSeconds },
  );
}
