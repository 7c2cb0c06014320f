import type { ErrorCode } from '../shared/errors.ts';
import type { Gateway } from './gateway/gateway.ts';

/** How the requests ended that ran when the service was told to stop. */
export interface Ending {
  finished: number;
  /** Released before they were finished: nothing was charged. */
  stopped: number;
  /** Ended by the next start. */
  left: number;
}

const stoppedCode: ErrorCode = 'SERVICE_UNAVAILABLE';
/** What is stopped hangs up on its model, gives its credits back and answers. */
const releaseWithinMs = 10_000;

/** The end of a service's requests: it waits for them, stops them, and counts by the service's own log what became of them. */
export function requestEnding() {
  const stopper = new AbortController();
  let isStopping = false;
  const ended = { finished: 0, stopped: 0 };
  return {
    /** Aborts when requests are not waited for any longer. */
    signal: stopper.signal,

    /** Takes every line of the log: each request writes one at its end. */
    read(line: string): void {
      if (!isStopping) return;
      const { message, code } = JSON.parse(line);
      if (message !== 'request') return;
      const wasStopped = stopper.signal.aborted && code === stoppedCode;
      ended[wasStopped ? 'stopped' : 'finished'] += 1;
    },

    /** Takes no new requests, lets those that run finish for a while, and stops those that did not. */
    async end(gateway: Gateway, beside: Promise<void>, graceSeconds: number): Promise<Ending> {
      isStopping = true;
      gateway.drain();
      const idle = Promise.all([gateway.idle(), beside]);
      await Promise.race([idle, pause(graceSeconds * 1000)]);
      stopper.abort();
      await Promise.race([idle, pause(releaseWithinMs)]);
      return { ...ended, left: gateway.running() };
    },
  };
}

/** What is said to whoever stopped the service. */
export function endingSentence({ finished, stopped, left }: Ending): string {
  const counts: [number, string][] = [
    [finished, 'finished'],
    [stopped, 'stopped and cost nothing'],
    [left, 'left to the next start, which ends what is open'],
  ];
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, what], i) => {
      const requests = i === 0 ? counted(count, 'request') : String(count);
      const verb = what === 'finished' ? '' : count === 1 ? ' was' : ' were';
      return `${requests}${verb} ${what}`;
    });
  return parts.length === 0 ? 'No request was running.' : `${parts.join(', ')}.`;
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
