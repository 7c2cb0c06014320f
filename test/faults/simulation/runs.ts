import { AsyncLocalStorage } from 'node:async_hooks';
import type { GenerationRef } from '../../../shared/generations/queue-contract.ts';
import type { Json } from './table-calls.ts';

/** One run of a function, or of an operator's command: what it does is known as its own wherever it happens. */
export class Run {
  /** As the history shows it. */
  readonly name: string;
  readonly startedMs: number;
  /** Whom it serves: a caller, an accepted request that nobody waits for, one that could not be run or is cancelled, or anything else. */
  kind: 'caller' | 'worker' | 'release' | 'sweep' | 'cancel' | 'other' = 'other';
  /** The request that its message names, and the record of that as it read it. */
  about: GenerationRef | null = null;
  found: Json | null = null;
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
  /** Faults may have met calls that are no reason to fail, as notes of cold starts are not. */
  missesNotes = false;
  /** Its calls that have no answer yet, and when it got the last answer. */
  waitsForAnswers = 0;
  answeredAtMs = 0;
  /** The model that it asked did not take its request. */
  isRefused = false;
  /** It noted that its call began a cold start. */
  beganColdStart = false;
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
