import type { ModelEvent } from './contract.ts';
import { admit, afterCall, afterProbe, closedBreaker, type Breaker, type Finding } from './breaker-states.ts';
import type { Clock } from '../base/clock.ts';
import { shortestIdleSeconds } from './cold-start.ts';
import { ServiceError } from '../base/errors.ts';
import { findingOfAbort, findingOfError, findingOfEvent } from './findings.ts';

export interface ModelBreakerOptions {
  clock: Clock;
  /** Called when it opens, opens halfway or closes. */
  onBreaker: (breaker: Breaker) => void;
}

/** The error for requests that meet a model which is starting, some seconds before it is probed again. */
export type WarmingError = (cause: Error, probeInSeconds: number) => Promise<ServiceError>;

/** How it asks whether the model is back. */
export interface BreakerProbe {
  /** Throws when no container answers. */
  ask(): Promise<void>;
  /** Whether one that starts, or may be scaled to zero, may be asked; if not, the next request that calls it shows whether it is back. */
  mayProbe(): Promise<boolean>;
}

/** The circuit breaker in front of the model, of this process alone. */
export function modelBreaker(
  { ask, mayProbe }: BreakerProbe,
  warming: WarmingError,
  { clock, onBreaker }: ModelBreakerOptions,
) {
  let breaker = closedBreaker;
  const become = (next: Breaker) => {
    const changed = next.state !== breaker.state;
    breaker = next;
    if (changed) onBreaker(next);
  };

  const isWarming = () => breaker.state === 'open' && breaker.reason === 'warming';

  return {
    /** Whether the model was starting when it was last asked. */
    isWarming,

    /**
     * @param waits whether the caller goes on asking while the model starts: its call is as good as a probe.
     * @param calls whether a call follows. If not, no probe is sent.
     * @returns null when the model may be called, after a probe where one was due; otherwise why not.
     */
    async refusal({ waits = false, calls = true } = {}): Promise<ServiceError | null> {
      if (waits && isWarming()) return null;
      const asked = admit(breaker, clock.now());
      if (!calls && asked.admission.kind === 'probe') return null;
      const mayBeAsleep = isWarming() || isLongOpen(breaker, clock.now());
      become(asked.breaker);
      const { admission } = asked;
      if (admission.kind === 'call') return null;
      if (admission.kind === 'wait') {
        const cause = new Error(`model server: not called while it is ${admission.reason}`);
        return admission.reason === 'warming'
          ? warming(cause, admission.seconds)
          : unavailable(cause, admission.seconds);
      }
      if (mayBeAsleep && !(await mayProbe())) return null;
      const refused: unknown = await ask().then(
        () => null,
        (error: unknown) => error,
      );
      // A container that refuses a probe is up, too.
      const finding = (refused !== null && findingOfError(refused)) || 'healthy';
      become(afterProbe(breaker, finding, clock.now()));
      // The probe was as good as the call, and its error says whether it began a cold start.
      if (finding === 'warming' && isWarming() && refused instanceof ServiceError) return refused;
      return this.refusal({ waits });
    },

    /** Passes a call's events on and learns from how it ends. */
    async *watch(events: AsyncIterable<ModelEvent>, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      const learn = (finding: Finding | null) => {
        if (finding !== null) become(afterCall(breaker, finding, clock.now()));
      };
      const called = !signal.aborted;
      let heard = false;
      try {
        for await (const event of events) {
          heard = true;
          learn(findingOfEvent(event));
          yield event;
          if (event.event === 'completed' || event.event === 'failed') return;
        }
      } catch (error) {
        if (called) learn(signal.aborted ? findingOfAbort(signal, heard) : findingOfError(error));
        throw error;
      }
      // Without a closing event.
      learn('failing');
    },
  };
}

/** Whether a model that failed may have scaled to zero, because this process has not asked it since. */
function isLongOpen(breaker: Breaker, nowMs: number): boolean {
  return breaker.state === 'open' && nowMs - breaker.untilMs >= shortestIdleSeconds * 1000;
}

/** The error for a model that fails. */
export function unavailable(cause: unknown, retryAfterSeconds?: number): ServiceError {
  const sentence = 'Image generation is not available right now. Try again shortly.';
  return new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause, retryAfterSeconds });
}
