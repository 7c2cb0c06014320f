import { describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import type { GenerationCommand } from '../../../shared/generations/create.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import {
  commandOf,
  commandsWorld,
  identity,
  license,
  outcomeOf,
  queued,
  startMs,
  type World,
} from './world.ts';

const { endMs } = billingPeriod(license.periodAnchorMs, startMs);
const periodResetDate = new Date(endMs).toISOString();
const outcome = (world: World, changes: Partial<GenerationCommand> = {}) =>
  outcomeOf(dryRun(commandOf(changes), world.deps));

/** The period totals were read and not changed, nothing was measured, and no model was called. */
function expectUntouched(world: World): void {
  expect([world.calls, world.meter.values, world.asked, world.faults]).toEqual([[], [], [], []]);
}

describe('a dry run that would be accepted', () => {
  test('tells the price, and the period totals as they are', async () => {
    const world = commandsWorld();
    expect(await outcome(world)).toEqual({
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
    expectUntouched(world);
  });

  test('has its references looked at, and none kept', async () => {
    const world = commandsWorld();
    const asked: unknown[] = [];
    world.deps.references = {
      fetch(command) {
        asked.push(...command.items);
        return Promise.resolve([null]);
      },
    };
    const body = { ...commandOf().body, referenceImages: [{ url: 'https://a.example/1.png' }] };
    expect(await outcome(world, { body, identity: { ...identity, productPhotos: true } })).toMatchObject({
      answer: { accepted: true },
    });
    expect(asked).toEqual([{ kind: 'url', url: 'https://a.example/1.png', putLink: null }]);
    expectUntouched(world);
  });
});

// `plan-generation` and `repeated-requests` hold the decision that it shares with the request itself.
describe('a dry run that would be refused', () => {
  const withoutModel = { identity: { ...identity, model: null } };

  test('counts what running requests hold, to the credit', async () => {
    const world = commandsWorld();
    world.totals.committed = 99;
    expect(await outcome(world)).toMatchObject({
      code: 'CREDIT_LIMIT_EXCEEDED',
      message: `This request costs 2 credits, more than is left of this month's 100. The period resets at ${periodResetDate}.`,
      retryAfterSeconds: Math.ceil((endMs - startMs) / 1000),
    });
    world.totals.committed = 98;
    expect(await outcome(world)).toMatchObject({ answer: { accepted: true } });
    expectUntouched(world);
  });

  test('hears of its credits before it hears that nothing can be painted', async () => {
    const world = commandsWorld();
    expect(await outcome(world, withoutModel)).toMatchObject({ code: 'IDENTITY_UNAVAILABLE' });
    const away = new ServiceError('SERVICE_UNAVAILABLE', 'All models are away.');
    world.deps.model = { ...world.deps.model, refusal: () => Promise.resolve(away) };
    expect(await outcome(world)).toBe(away);
    world.totals.committed = 99;
    expect(await outcome(world)).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    expect(await outcome(world, withoutModel)).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    expectUntouched(world);
  });
});

describe('a dry run with an idempotency key that was used', () => {
  const idempotencyRecord = { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 };
  const used = { idempotencyKeyHash: 'hash', idempotencyRecord } as Partial<GenerationCommand>;

  test('for a request that completed costs nothing, and says why', async () => {
    const world = commandsWorld();
    world.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    world.totals.committed = 100;
    expect(await outcome(world, used)).toMatchObject({
      wouldReplay: true,
      answer: { accepted: true, credits: 0, usage: { creditsUsed: 60, creditsCharged: 0 } },
    });
    expectUntouched(world);
  });

  test('for one that runs, or for another body, is refused as the request would be', async () => {
    const world = commandsWorld();
    world.records.set('r0', queued({ requestId: 'r0' }));
    expect(await outcome(world, used)).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    expect(await outcome(world, { ...used, bodyHash: 'h2' })).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
    expectUntouched(world);
  });
});
