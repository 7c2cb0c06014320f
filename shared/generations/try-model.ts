import { ServiceError } from '../base/errors.ts';
import type { Generation } from './generation.ts';
import { runModel, stopped, timedOut } from './run-model.ts';

/** SageMaker ends a stream after eight minutes, whatever the container still does. */
const longestAttemptMs = 450_000;
/** A container that has the request says something by then. */
const longestSilenceMs = 10_000;
const firstPauseMs = 2000;
const longestPauseMs = 15_000;

/**
 * How long to wait before a model is asked again: two seconds, doubling to fifteen, less up to half of it by chance, so
 * that requests which met the same busy model do not come back together.
 * @param attempt how often it was asked, from 1
 */
export function modelPauseMs(attempt: number, random: () => number = Math.random): number {
  const fullMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (attempt - 1));
  return Math.round(fullMs * (1 - random() / 2));
}

/** The model has not begun, and may be asked again later. Nothing has changed. */
export class NotYet extends Error {
  override name = 'NotYet';
  readonly pauseMs: number;
  override readonly cause: ServiceError;

  constructor(pauseMs: number, cause: ServiceError) {
    super('the model has not begun');
    this.pauseMs = pauseMs;
    this.cause = cause;
  }
}

/**
 * As `runModel`, for a request whose caller does not wait: a model that is scaled to zero, busy or can't be reached may be
 * asked again while there is time. Once it has begun to generate, every failure ends the run.
 * @param attempt how often it was asked, from 1
 * @throws what `runModel` throws; NotYet; TIMEOUT where the next time would come after the deadline.
 */
export function tryModel(attempt: number): typeof runModel {
  return async (generation, identity, events, deps) => {
    let hasStarted = false;
    const watched = {
      ...events,
      started() {
        hasStarted = true;
        return events.started();
      },
    };
    const askedAtMs = deps.clock.now();
    const refusal = await deps.model.refusal({ waits: true });
    try {
      if (refusal !== null) throw refusal;
      const deadlineMs = Math.min(generation.deadlineMs, askedAtMs + longestAttemptMs);
      return await runModel({ ...generation, deadlineMs }, identity, watched, deps);
    } catch (error) {
      if (hasStarted || !mayPass(error)) throw error;
      if (deps.stopping.aborted) throw stopped();
      // The circuit breaker knows when its next probe is due.
      const dueMs = (refusal?.retryAfterSeconds ?? 0) * 1000;
      // A queue hides a message for whole seconds. What comes back after its deadline was not late because of the queue.
      const pauseMs = 1000 * Math.ceil(Math.max(modelPauseMs(attempt), dueMs) / 1000);
      const nowMs = deps.clock.now();
      if (nowMs + pauseMs < generation.deadlineMs) throw new NotYet(pauseMs, error);
      // A try that began just before the deadline says nothing of the model.
      const isBrief = error.code === 'TIMEOUT' && nowMs - askedAtMs <= longestSilenceMs;
      if (isBrief && !error.inLine) throw lateTimeout(generation, attempt);
      const unpaid = generation.beganColdStart ? 'wake' : error.unpaid;
      throw timedOut(generation, { unpaid, noFault: error.noFault, inLine: error.inLine });
    }
  };
}

/** Of a request that had too little time left, once its queue brought it. If it came before, its model was not ready then. */
export function lateTimeout(generation: Generation, attempt: number): ServiceError {
  const unpaid = generation.beganColdStart ? 'wake' : undefined;
  return timedOut(generation, { unpaid, ...(attempt > 1 ? { noFault: true } : { inLine: true }) });
}

/** Scaled to zero, busy or failing; or an attempt that ran out while it waited in the model's line. */
function mayPass(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ['SERVICE_UNAVAILABLE', 'TIMEOUT'].includes(error.code);
}
