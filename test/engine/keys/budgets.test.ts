import { beforeAll, expect, test } from '@jest/globals';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as fc from 'fast-check';
import type { Generation } from '../../../shared/generations/generation.ts';
import { newId, newRequestId } from '../../../shared/base/ids.ts';
import { generationStore, type GenerationStore } from '../../../shared/generations/store.ts';
import { apiKeyStore } from '../../../shared/keys/store.ts';
import { committedName, periodStore } from '../../../shared/licenses/period-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { sampleGeneration, sampleNowMs } from '../../support/unit-samples.ts';
import { newKey } from './stored-keys.ts';
import { useTable } from '../generations/use-engines.ts';
import { runs } from '../../support/runs.ts';

const fixture = useTable();
let generations: GenerationStore;
beforeAll(() => void (generations = generationStore(fixture.table)));

const keyOf = (digit: string) => `key_${digit.repeat(32)}`;
const [first, second] = [keyOf('a'), keyOf('b')] as const;
const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: 'It failed.' } as const;
const completion = {
  completedAtMs: sampleNowMs + 9000,
  previews: [],
  referenceImagesUsed: 0,
  modelVersion: 'v9',
};

/** A license's requests: each image costs a credit. */
function requestsOf(licenseId: string) {
  return (keyId: string, numOutputs = 1): Generation =>
    sampleGeneration({ requestId: newRequestId(sampleNowMs), licenseId, keyId }, { numOutputs });
}

const reserve = (
  request: Generation,
  keyBudget: number | null,
  { creditsLimit = 1000, maxInFlight = 1000 } = {},
) => generations.reserve(request, { creditsLimit, keyBudget, maxInFlight }, 'h');
/**
 * The same, sent again where a busy machine opened no connection in time: nothing of it was sent then. The engine shares
 * its thread with the test.
 */
const reservePatiently: typeof reserve = (...order) =>
  reserve(...order).catch((error: Error) => {
    if (!String(error.cause).includes('did not establish a connection')) throw error;
    return reservePatiently(...order);
  });
const totals = ({ licenseId, periodStartMs }: Generation) =>
  periodStore(fixture.table).get(licenseId, periodStartMs);

async function settle(request: Generation): Promise<void> {
  await generations.start(request, sampleNowMs, 'run-1');
  await generations.settle(request, completion);
}

test('of 100 requests at once with one key exactly as many begin as its budget pays for, and others of its license go on', async () => {
  const request = requestsOf(newId('license'));
  const limited = Array.from({ length: 100 }, () => reservePatiently(request(first, 2), 37));
  const free = Array.from({ length: 20 }, () => reservePatiently(request(second), null));
  const outcomes = (await Promise.all(limited)).map(({ outcome }) => outcome);
  expect(outcomes.filter((outcome) => outcome === 'reserved')).toHaveLength(18);
  expect(outcomes.filter((outcome) => outcome === 'over_key_budget')).toHaveLength(82);
  for (const { outcome } of await Promise.all(free)) expect(outcome).toBe('reserved');
  expect(await totals(request(first))).toMatchObject({
    committed: 56,
    used: 0,
    inFlight: 38,
    byKey: { [first]: { committed: 36, credits: 0 }, [second]: { committed: 20, credits: 0 } },
  });
});

test('a request from before keys were counted takes nothing from what its key has committed since, however it ends', async () => {
  const request = requestsOf(newId('license'));
  const [failed, completed] = [request(first, 4), request(first, 3)];
  /** As the version before stored it: neither its record nor its period's item knows of the key. */
  const fromBefore = async (one: Generation) => {
    await reserve(one, null);
    const { licenseId, requestId, periodStartMs, keyId } = one;
    const remove = (Key: Record<string, string>, name: string) =>
      fixture.table.documents.send(
        new UpdateCommand({
          TableName: fixture.table.name,
          Key,
          UpdateExpression: 'REMOVE #name',
          ExpressionAttributeNames: { '#name': name },
        }),
      );
    await remove(itemKeys.generation(licenseId, requestId), 'countedByKey');
    await remove(itemKeys.period(licenseId, periodStartMs), committedName(keyId));
    return (await generations.get(licenseId, requestId))!;
  };
  const stored = [await fromBefore(failed), await fromBefore(completed)] as const;
  await reserve(request(first, 2), 2);
  await generations.release(stored[0], failure, sampleNowMs);
  await settle(stored[1]);
  expect(await totals(completed)).toMatchObject({
    committed: 5,
    used: 3,
    byType: { text_to_image: { requests: 1, credits: 3 } },
    byKey: { [first]: { requests: 0, credits: 0, committed: 2 } },
  });
  expect(await reserve(request(first), 2)).toEqual({ outcome: 'over_key_budget' });
});

test('a change of a budget keeps a name that came in between, and a change of a name keeps such a budget', async () => {
  const keys = apiKeyStore(fixture.table);
  const read = newKey(newId('license'));
  await keys.insert(read);
  const stored = async () => {
    const { name, monthlyCredits } = (await keys.get(read.keyId))!;
    return { name, monthlyCredits };
  };
  for (const changes of [{ name: 'CI' }, { monthlyCredits: 7 }, { name: 'nightly' }, { monthlyCredits: 8 }]) {
    const before = await stored();
    // Each knows the key as it was at first.
    await keys.change(read, changes, read.createdAtMs);
    expect(await stored()).toEqual({ ...before, ...changes });
  }
});

test('whatever is reserved, settled and released under whatever budgets: the numbers are those of plain arithmetic', async () => {
  const callers = [first, second, 'acct_owner'];
  const anyStep = fc.oneof(
    { weight: 3, arbitrary: fc.record({ by: fc.nat(2), credits: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 2, arbitrary: fc.record({ ends: fc.nat(20), completes: fc.boolean() }) },
    {
      weight: 1,
      arbitrary: fc.record({ of: fc.nat(1), budget: fc.option(fc.integer({ min: 1, max: 12 })) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 10, maxLength: 30 }), async (steps) => {
      const request = requestsOf(newId('license'));
      const limits = { creditsLimit: 20, maxInFlight: 5 };
      const budgets = new Map<string, number | null>(callers.map((keyId) => [keyId, null]));
      const made: { keyId: string; credits: number; state: string; request: Generation }[] = [];
      const sum = (states: string[], keyId?: string) =>
        made
          .filter((one) => states.includes(one.state) && (keyId === undefined || one.keyId === keyId))
          .reduce((total, { credits }) => total + credits, 0);
      const expected = (keyId: string, credits: number) => {
        if (sum(['held', 'used']) + credits > limits.creditsLimit) return 'over_limit';
        if (sum(['held', 'used'], keyId) + credits > (budgets.get(keyId) ?? Infinity))
          return 'over_key_budget';
        return made.filter(({ state }) => state === 'held').length >= limits.maxInFlight
          ? 'too_many_in_flight'
          : 'reserved';
      };
      for (const step of steps) {
        if ('budget' in step) budgets.set(callers[step.of]!, step.budget);
        else if ('by' in step) {
          const keyId = callers[step.by]!;
          const wanted = request(keyId, step.credits);
          const should = expected(keyId, step.credits);
          expect((await reserve(wanted, budgets.get(keyId)!, limits)).outcome).toBe(should);
          if (should === 'reserved')
            made.push({ keyId, credits: step.credits, state: 'held', request: wanted });
        } else {
          const running = made.filter(({ state }) => state === 'held');
          const one = running[step.ends % running.length];
          if (one === undefined) continue;
          one.state = step.completes ? 'used' : 'free';
          if (step.completes) await settle(one.request);
          else await generations.release(one.request, failure, sampleNowMs);
        }
      }
      const { committed, used, byKey } = await totals(request(first));
      expect({ committed, used }).toEqual({ committed: sum(['held', 'used']), used: sum(['used']) });
      for (const keyId of callers) {
        const tally = byKey[keyId.startsWith('acct_') ? 'playground' : keyId];
        const { committed: ofKey = 0, credits = 0, requests = 0 } = tally ?? {};
        expect({ ofKey, credits }).toEqual({
          ofKey: sum(['held', 'used'], keyId),
          credits: sum(['used'], keyId),
        });
        const completed = made.filter((one) => one.state === 'used' && one.keyId === keyId);
        expect(requests).toBe(completed.length);
      }
    }),
    { numRuns: runs(5) },
  );
});
