import type { ErrorCode } from '../shared/base/errors.ts';
import type { Gateway } from './gateway/gateway.ts';
import type { Handling } from './sqs/engine.ts';

/** How the requests ended that ran when the service began to stop. */
export interface ShutdownCounts {
  finished: number;
  /** Released before they were finished: nothing was charged. */
  stopped: number;
  /** Still running, or in a queue: the next start ends them. */
  left: number;
}

/** What runs. */
export interface Running {
  gateway: Pick<Gateway, 'drain' | 'idle' | 'running'>;
  /** Requests that nobody waits for. */
  queues: Pick<Handling, 'idle' | 'messages'>;
  job: Promise<void>;
}

const stoppedCode: ErrorCode = 'SERVICE_UNAVAILABLE';
/** A request that is stopped hangs up on its model, gives its credits back and answers. */
const releaseWithinMs = 10_000;

/** Waits for a service's requests, stops them, and counts from the service's own log how each of them ended. */
export function requestShutdown() {
  const stopper = new AbortController();
  let isStopping = false;
  const counts = { finished: 0, stopped: 0 };
  return {
    /** Aborts when requests are not waited for any longer. */
    signal: stopper.signal,

    /** Takes every line of the log: each request writes one at its end. */
    read(line: string): void {
      if (!isStopping) return;
      const { message, code } = JSON.parse(line);
      if (message !== 'request') return;
      const wasStopped = stopper.signal.aborted && code === stoppedCode;
      counts[wasStopped ? 'stopped' : 'finished'] += 1;
    },

    /** Takes no new requests, lets those that run finish within `graceSeconds`, and stops those that did not. */
    async shutDown({ gateway, queues, job }: Running, graceSeconds: number): Promise<ShutdownCounts> {
      isStopping = true;
      gateway.drain();
      // A request that is answered at once may begin to run with its answer.
      const idle = Promise.all([gateway.idle().then(() => queues.idle()), job]);
      await Promise.race([idle, pause(graceSeconds * 1000)]);
      stopper.abort();
      await Promise.race([idle, pause(releaseWithinMs)]);
      return { ...counts, left: gateway.running() + queues.messages() };
    },
  };
}

/** How the requests ended, in a sentence. */
export function shutdownSentence({ finished, stopped, left }: ShutdownCounts): string {
  const ends: [number, string][] = [
    [finished, 'finished'],
    [stopped, 'stopped without a charge'],
    [left, 'left to the next start, which ends what is open'],
  ];
  const parts = ends
    .filter(([count]) => count > 0)
    .map(([count, end]) => `${counted(count, 'request')} ${end}`);
  return parts.length === 0 ? 'No request was running.' : `${parts.join(', ')}.`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
