import { AsyncLocalStorage } from 'node:async_hooks';
import type { GenerationRef } from '../../../shared/generations/queue-contract.ts';

/** One run of a function, or of an operator's command: what it does is known as its own wherever it happens. */
export class Run {
  /** As the history shows it. */
  readonly name: string;
  readonly startedMs: number;
  /** Whom it serves: a caller, an accepted request that nobody waits for, one that could not be run, or anything else. */
  kind: 'caller' | 'worker' | 'release' | 'sweep' | 'other' = 'other';
  /** Lambda's id of the event that it was invoked with, and the request that this event names. */
  invocationId: string | null = null;
  about: GenerationRef | null = null;
  /** The environment that it runs in, which remembers what other runs met. */
  environment = 'none';
  /** By how much its machine's clock is wrong. */
  skewMs = 0;
  /** Whether faults may meet it, and whether its machine may die. */
  mayFail = false;
  mayDie = false;
  /** Its machine is gone: nothing that it waits for comes, nothing that it would do happens. */
  dead = false;
  /** Its machine stands still until then: timers and answers wait. */
  stalledUntilMs = 0;
  /** Its calls in the order in which it sent them, and the faults that met them. */
  readonly calls: string[] = [];
  readonly faults: { call: string; fault: string }[] = [];
  /** When it last asked a model that was scaled to zero; null once the model answered. */
  foundNoCapacityAtMs: number | null = null;
  /** One of its reference images could not be used. */
  hasUnusableReference = false;
  /** Its answer left open how the request ended. */
  isUnsure = false;
  /** It threw, and Lambda handles that. */
  failed = false;
  /** It came to its end while its machine lived. */
  ended = false;
  readonly onDeath: (() => void)[] = [];

  constructor(name: string, startedMs: number, changes: Partial<Run> = {}) {
    this.name = name;
    this.startedMs = startedMs;
    Object.assign(this, changes);
  }

  die(): void {
    if (this.dead) return;
    this.dead = true;
    for (const notify of this.onDeath) notify();
  }
}

/** Whose code runs at the moment. */
export const currentRun = new AsyncLocalStorage<Run>();
