import { describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import type { GenerationCommand } from '../../../shared/generations/create.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import {
  commandOf,
  commandsFixture,
  identity,
  license,
  outcomeOf,
  queued,
  startMs,
  type Fixture,
} from './fixture.ts';

const { endMs } = billingPeriod(license.periodAnchorMs, startMs);
const periodResetDate = new Date(endMs).toISOString();
const outcome = (fixture: Fixture, changes: Partial<GenerationCommand> = {}) =>
  outcomeOf(dryRun(commandOf(changes), fixture.deps));

/** The period totals were read and not changed, nothing was measured, and no model was called. */
function expectUntouched(fixture: Fixture): void {
  expect([fixture.calls, fixture.meter.values, fixture.asked, fixture.faults]).toEqual([[], [], [], []]);
}

describe('a dry run that would be accepted', () => {
  test('names the price, and the period totals as they are', async () => {
    const fixture = commandsFixture();
    expect(await outcome(fixture)).toEqual({
      wouldReplay: false,
      answer: {
        dryRun: true,
        accepted: true,
        identity: { id: identity.identityId, name: identity.name },
        credits: 2,
        usage: {
          creditsUsed: 60,
          creditsLimit: 100,
          creditsRemaining: 40,
          creditsCharged: 0,
          periodResetDate,
        },
      },
    });
    expectUntouched(fixture);
  });

  test('has its references looked at, and none kept', async () => {
    const fixture = commandsFixture();
    const asked: unknown[] = [];
    fixture.deps.references = {
      fetch(command) {
        asked.push(...command.items);
        return Promise.resolve([null]);
      },
    };
    const body = { ...commandOf().body, referenceImages: [{ url: 'https://a.example/1.png' }] };
    expect(await outcome(fixture, { body, identity: { ...identity, productPhotos: true } })).toMatchObject({
      answer: { accepted: true },
    });
    expect(asked).toEqual([{ kind: 'url', url: 'https://a.example/1.png', putLink: null }]);
    expectUntouched(fixture);
  });
});

// The tests of its decision, which it shares with the request itself, hold its other refusals.
describe('a dry run that would be refused', () => {
  test('counts what running requests hold, to the credit', async () => {
    const fixture = commandsFixture();
    fixture.totals.committed = 99;
    expect(await outcome(fixture)).toMatchObject({
      code: 'CREDIT_LIMIT_EXCEEDED',
      message: `This request costs 2 credits, more than is left of this month's 100. The period resets at ${periodResetDate}.`,
      retryAfterSeconds: Math.ceil((endMs - startMs) / 1000),
    });
    fixture.totals.committed = 98;
    expect(await outcome(fixture)).toMatchObject({ answer: { accepted: true } });
    expectUntouched(fixture);
  });
});

describe('a dry run with an idempotency key that was used', () => {
  const idempotencyRecord = { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 };
  const used = { idempotencyKeyHash: 'hash', idempotencyRecord } as Partial<GenerationCommand>;

  test('for a request that completed costs nothing, and says why', async () => {
    const fixture = commandsFixture();
    fixture.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    fixture.totals.committed = 100;
    expect(await outcome(fixture, used)).toMatchObject({
      wouldReplay: true,
      answer: { accepted: true, credits: 0, usage: { creditsUsed: 60, creditsCharged: 0 } },
    });
    expectUntouched(fixture);
  });
});
