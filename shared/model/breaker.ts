import type { ModelEvent } from './contract.ts';
import { admit, afterCall, afterProbe, closedBreaker, type Breaker, type Finding } from './breaker-states.ts';
import type { Clock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import { findingOfAbort, findingOfError, findingOfEvent } from './findings.ts';

export interface ModelBreakerOptions {
  clock: Clock;
  /** Called when it opens, opens halfway or closes. */
  onBreaker: (breaker: Breaker) => void;
}

/** The error for requests that meet a model which is starting, some seconds before it is probed again. */
export type WarmingError = (cause: Error, probeInSeconds: number) => Promise<ServiceError>;

/**
 * The circuit breaker in front of the model, of this process alone.
 * @param probe throws when no container answers.
 */
export function modelBreaker(
  probe: () => Promise<void>,
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
     * @returns null when the model may be called, after a probe where one was due; otherwise why not.
     */
    async refusal({ waits = false } = {}): Promise<ServiceError | null> {
      if (waits && isWarming()) return null;
      const asked = admit(breaker, clock.now());
      become(asked.breaker);
      const { admission } = asked;
      if (admission.kind === 'call') return null;
      if (admission.kind === 'wait') {
        const cause = new Error(`model server: not called while it is ${admission.reason}`);
        return admission.reason === 'warming'
          ? warming(cause, admission.seconds)
          : unavailable(cause, admission.seconds);
      }
      const finding = await probe().then(
        () => 'healthy' as const,
        // A container that refuses a probe is up, too.
        (error: unknown) => findingOfError(error) ?? 'healthy',
      );
      become(afterProbe(breaker, finding, clock.now()));
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

/** The error for a model that fails. */
export function unavailable(cause: unknown, retryAfterSeconds?: number): ServiceError {
  const sentence = 'Image generation is not available right now. Try again shortly.';
  return new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause, retryAfterSeconds });
}
