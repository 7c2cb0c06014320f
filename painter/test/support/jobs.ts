import type { ModelEvent } from '../../src/contract.ts';
import { createRate } from '../../src/estimate.ts';
import { runJob } from '../../src/job.ts';
import { Line } from '../../src/line.ts';
import { parseRequest } from '../../src/request.ts';
import type { PaintRequest } from '../../src/request.ts';
import { createSemaphore } from '../../src/semaphore.ts';
import { createHandPool, turn } from './hand-pool.ts';
import { linkTo } from './references.ts';
import { inMs, requestOf } from './requests.ts';

export function parsed(...args: Parameters<typeof requestOf>): PaintRequest {
  const result = parseRequest(requestOf(...args));
  if (!('request' in result)) throw new Error(JSON.stringify(result));
  return result.request;
}

export interface Job {
  events: ModelEvent[];
  /** The names of the events. */
  names(): string[];
  /** How it failed, if it did. */
  failure(): string | undefined;
  leave: AbortController;
}

/** A painter whose pictures a test finishes by hand, and whose rate and clock it sets. */
export function createHandPainter(threads = 1) {
  const pool = createHandPool(threads);
  const rate = createRate();
  const clock = { nowMs: Date.now() };
  const line = new Line({ pool, rate, now: () => clock.nowMs });
  const context = { pool, line, semaphore: createSemaphore(threads) };
  const running: { job: Job; done: Promise<void> }[] = [];
  /** Sends a request of this tenant, or of an older service that names none. */
  const send = (tenant: string | undefined, changes: Record<string, unknown> = {}): Job => {
    const [leave, events] = [new AbortController(), [] as ModelEvent[]];
    const { settings = {}, numOutputs = 1, ...others } = changes;
    const putUrl = linkTo((response) => void response.end());
    const outputs = Array.from({ length: Number(numOutputs) }, () => ({ putUrl }));
    const whole = { deadline: inMs(600_000), tenant, numOutputs, outputs, ...others };
    const done = runJob(
      parsed(settings as Record<string, unknown>, whole),
      context,
      (event) => events.push(event),
      leave.signal,
    );
    const failure = (): string | undefined => {
      const last = events.at(-1);
      return last?.event === 'failed' ? last.reason : undefined;
    };
    const job = { events, names: () => events.map(({ event }) => event), failure, leave };
    running.push({ job, done });
    return job;
  };
  return {
    pool,
    rate,
    clock,
    line,
    send,
    /** Sends many at once. */
    flood: (count: number, tenant: string | undefined, changes?: Record<string, unknown>): Job[] =>
      Array.from({ length: count }, () => send(tenant, changes)),
    /** Ends all requests, as their callers would by hanging up. */
    async close(): Promise<void> {
      for (const { job } of running) job.leave.abort(new Error('the test is over'));
      await Promise.all(running.map(({ done }) => done));
      await turn();
    },
  };
}

export type HandPainter = ReturnType<typeof createHandPainter>;
