import { AsyncLocalStorage } from 'node:async_hooks';
import type { GenerationRef } from '../../../shared/generations/worker-contract.ts';

/** What a function's run is for: a caller, a request that nobody waits for, one that could not be run, or anything else. */
export type RunKind = 'caller' | 'worker' | 'release' | 'sweep' | 'other';

/** One run of a function, or of an operator's command: what it does is known as its own wherever it happens. */
export interface Run {
  /** As the history shows it. */
  name: string;
  kind: RunKind;
  /** The event that it was invoked with, as Lambda calls it. */
  invocationId: string | null;
  /** The environment that it runs in, which remembers what others met. */
  environment: string;
  /** The request that this event names. */
  about: GenerationRef | null;
  startedMs: number;
  /** By how much its machine's clock is wrong. */
  skewMs: number;
  /** Whether faults may meet it, and whether its machine may die. */
  mayFail: boolean;
  mayDie: boolean;
  /** Its machine is gone: nothing that it waits for comes, nothing that it would do happens. */
  dead: boolean;
  /** Its machine stands still until then: timers and answers wait. */
  stalledUntilMs: number;
  /** The faults that met it, each with the call that it met. */
  faults: { call: string; fault: string }[];
  /** When it last asked a model that had no capacity; null once it asked another time. */
  foundAsleepAtMs: number | null;
  /** Its calls, in the order in which it sent them. */
  calls: string[];
  /** One of its reference images could not be used. */
  hasUnusableReference: boolean;
  /** Its caller was told that nobody knows how it ended. */
  isUnsure: boolean;
  /** It failed, which Lambda sees to. */
  failed: boolean;
  /** It came to its end while its machine lived. */
  ended: boolean;
  onDeath: (() => void)[];
}

/** Whose code runs at the moment. */
export const currentRun = new AsyncLocalStorage<Run>();

export function newRun(name: string, startedMs: number, changes: Partial<Run> = {}): Run {
  return {
    name,
    kind: 'other',
    invocationId: null,
    environment: 'none',
    about: null,
    startedMs,
    skewMs: 0,
    mayFail: false,
    mayDie: false,
    dead: false,
    stalledUntilMs: 0,
    faults: [],
    foundAsleepAtMs: null,
    calls: [],
    hasUnusableReference: false,
    isUnsure: false,
    failed: false,
    ended: false,
    onDeath: [],
    ...changes,
  };
}

export function die(run: Run): void {
  if (run.dead) return;
  run.dead = true;
  for (const tell of run.onDeath) tell();
}
