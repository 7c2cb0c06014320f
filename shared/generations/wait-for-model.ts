import type { Clock } from '../base/clock.ts';
import { ServiceError, type UnpaidReason } from '../base/errors.ts';
import { runModel, stopped, timedOut, type ModelRunDeps } from './run-model.ts';

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

/**
 * As `runModel`, for a request whose caller does not wait: while the model is scaled to zero, busy or can't be reached it is
 * asked again, until the request's deadline. Once it has begun to generate, every failure ends the run.
 * @throws what `runModel` throws; TIMEOUT where the model never began.
 */
export const waitForModel: typeof runModel = async (generation, identity, events, deps) => {
  let hasStarted = false;
  /** Whether one of its calls began a cold start. The deadline says so, unless the model generates after all. */
  let unpaid: UnpaidReason | undefined;
  /** What it waited for last. It is nobody's fault where the model sleeps or has too much to do. */
  let last: Pick<ServiceError, 'noFault' | 'inLine'> | undefined;
  const watched = {
    ...events,
    started() {
      hasStarted = true;
      return events.started();
    },
  };
  for (let attempt = 1; ; attempt++) {
    const refusal = await deps.model.refusal({ waits: true });
    if (refusal === null) {
      const askedAtMs = deps.clock.now();
      const deadlineMs = Math.min(generation.deadlineMs, askedAtMs + longestAttemptMs);
      try {
        return await runModel({ ...generation, deadlineMs }, identity, watched, deps);
      } catch (error) {
        if (hasStarted || !mayPass(error)) throw error;
        unpaid ??= error.unpaid;
        // A try that began just before the deadline says nothing of the model.
        const isBrief = deps.clock.now() - askedAtMs <= longestSilenceMs;
        if (error.code !== 'TIMEOUT' || error.inLine || !isBrief) last = error;
      }
    } else last = refusal;
    // The circuit breaker knows when its next probe is due.
    const dueMs = (refusal?.retryAfterSeconds ?? 0) * 1000;
    const leftMs = generation.deadlineMs - deps.clock.now();
    if (leftMs > 0) await pause(Math.min(Math.max(modelPauseMs(attempt), dueMs), leftMs), deps);
    if (deps.stopping.aborted) throw stopped();
    if (deps.clock.now() >= generation.deadlineMs)
      throw timedOut(generation, { unpaid, noFault: last?.noFault, inLine: last?.inLine });
  }
};

/** Scaled to zero, busy or failing; or an attempt that ran out while it waited in the model's queue. */
function mayPass(error: unknown): error is ServiceError {
  return error instanceof ServiceError && ['SERVICE_UNAVAILABLE', 'TIMEOUT'].includes(error.code);
}

function pause(ms: number, { clock, stopping }: { clock: Clock } & Pick<ModelRunDeps, 'stopping'>) {
  const signal = AbortSignal.any([clock.timeout(ms), stopping]);
  return new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve());
  });
}
