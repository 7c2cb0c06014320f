import { isFinal, type Generation } from '../../shared/generations/generation.ts';
import { fromItem } from '../../shared/generations/item.ts';
import { objectStore } from '../../shared/images/object-store.ts';
import type { Item, Table } from '../../shared/table/table.ts';
import { wrongAtRest } from '../support/stored-state.ts';
import { allItems } from '../support/table-scan.ts';
import { pause } from '../support/until.ts';
import type { Command, Outcome } from './driver.ts';

/** A call, what it ended with, and what its repeat with the same idempotency key ended with, if there was one. */
export interface Call {
  command: Command;
  outcomes: Outcome[];
}

export interface Verdict {
  calls: number;
  /** Results that their callers got, repeats included. */
  results: number;
  /** Credits that were charged. */
  charged: number;
  /** Calls whose image was charged more than once. */
  chargedTwice: number;
  /** Calls that ended without their images, and charged images that are not there. */
  lost: number;
  /** Calls that ended with a failure of the service, which is stored and cost nothing. */
  failed: number;
  /** What must not be, as sentences. */
  violations: string[];
}

const failures = ['FAILED', 'TIMEOUT'];

/** What the model stores in the place of a picture. */
const picture = 'a picture';

/** Compares what the calls ended with, what was charged, and what is stored, once nothing runs any more. */
export async function judge(calls: Call[], table: Table, bucketName: string): Promise<Verdict> {
  const items = await settledItems(table);
  const verdict: Verdict = {
    calls: calls.length,
    results: calls.flatMap(({ outcomes }) => outcomes).filter(({ error }) => error === undefined).length,
    charged: 0,
    chargedTwice: 0,
    lost: 0,
    failed: 0,
    violations: wrongAtRest(items),
  };
  const generations = items.filter(({ PK }) => PK.startsWith('GEN#')).map(fromItem);
  const byPrompt = Map.groupBy(generations, ({ prompt }) => prompt);
  for (const call of calls) judgeCall(call, byPrompt.get(call.command.body.prompt) ?? [], verdict);
  const completed = generations.filter(({ status }) => status === 'COMPLETED');
  verdict.charged = completed.reduce((sum, { credits }) => sum + credits, 0);
  await checkImages(bucketName, completed, (sentence) => {
    verdict.lost++;
    verdict.violations.push(sentence);
  });
  return verdict;
}

/** @param stored the requests with the call's prompt, which no other call has */
function judgeCall({ command, outcomes }: Call, stored: Generation[], verdict: Verdict): void {
  const { call, kind, body } = command;
  const violate = (sentence: string): void =>
    void verdict.violations.push(`Call ${call} (${kind}): ${sentence}`);
  const charged = stored.filter(({ status }) => status === 'COMPLETED');
  if (charged.length > 1) {
    verdict.chargedTwice++;
    violate(`it was charged ${charged.length} times.`);
  }
  for (const { status, requestId } of stored) {
    if (!isFinal(status)) violate(`${requestId} is still ${status}.`);
  }
  for (const { error, requestId, creditsCharged, images } of outcomes) {
    if (error !== undefined) {
      // A busy machine's service fails at times. The client may not fail where the service did not.
      if (error.startsWith('ApiError') && stored.some(({ status }) => failures.includes(status))) {
        verdict.failed++;
        continue;
      }
      verdict.lost++;
      violate(`it ended with "${error}", and ${charged.length} of its requests were charged.`);
      continue;
    }
    if (requestId !== charged[0]?.requestId) violate(`it got ${requestId}, which was not charged.`);
    if (creditsCharged !== charged[0]?.credits) violate(`its result has ${creditsCharged} credits.`);
    if (images?.length !== body.numOutputs || images.some((one) => one !== picture)) {
      verdict.lost++;
      violate(`it got ${JSON.stringify(images)}.`);
    }
  }
}

/** A request that nobody runs any more is ended by the sweep, a lease and a minute later. */
const settledWithinMs = 120_000;
const readsAtOnce = 16;

/** The whole table, once nothing runs any more or that has taken too long. */
async function settledItems(table: Table): Promise<Item[]> {
  for (const untilMs = Date.now() + settledWithinMs; ; await pause(1000)) {
    const items = await allItems(table);
    const isOpen = ({ PK, status }: Item) => PK.startsWith('GEN#') && !isFinal(status);
    if (!items.some(isOpen) || Date.now() > untilMs) return items;
  }
}

/** Looks up each image in the bucket. */
async function checkImages(
  bucketName: string,
  completed: Generation[],
  violate: (sentence: string) => void,
): Promise<void> {
  const objects = objectStore(bucketName);
  const images = completed.flatMap((of) => Array.from({ length: of.numOutputs }, (_, i) => [of, i] as const));
  const left = images.values();
  async function check(): Promise<void> {
    for (const [of, i] of left) {
      const bytes = await objects.outputSize(of, i);
      if (bytes === null || bytes === 0) violate(`${of.requestId} is COMPLETED and lacks image ${i}.`);
    }
  }
  await Promise.all(Array.from({ length: readsAtOnce }, check));
}
