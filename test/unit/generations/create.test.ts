import { describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { committedName, inFlightName } from '../../../shared/licenses/period-store.ts';
import type { UnpaidRefusal } from '../../../shared/licenses/unpaid-runs.ts';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import type { Reserved } from '../../../shared/generations/reserve.ts';
import { agentWords } from '../../../shared/mcp/contract.ts';
import { inWords, ServiceError } from '../../../shared/base/errors.ts';
import { finishGeneration, type Accepted } from '../../../shared/generations/create.ts';
import type { GenerationCommand } from '../../../shared/generations/decide.ts';
import type { Observer } from '../../../shared/generations/settle.ts';
import { dryRun } from '../../../shared/generations/dry-run.ts';
import {
  accept,
  commandOf,
  commandsFixture,
  done,
  identity,
  license,
  outcomeOf,
  queued,
  startMs,
  type Fixture,
} from './fixture.ts';
import { sampleKeyId } from '../../support/unit-samples.ts';

const { startMs: periodStartMs, endMs: periodEndMs } = billingPeriod(license.periodAnchorMs, startMs);

async function finish(fixture: Fixture, observer: Observer = {}): Promise<any> {
  const accepted = (await accept(fixture)) as Accepted;
  return outcomeOf(finishGeneration(accepted, license, observer, fixture.deps));
}

describe('a request that is accepted', () => {
  test('has its credits reserved, once, in the period of now, and its idempotency key taken', async () => {
    const fixture = commandsFixture();
    const acceptance = await accept(fixture, { idempotencyKeyHash: 'key', bodyHash: 'h2' });
    const generation = {
      requestId: 'r1',
      licenseId: 'lic_1',
      keyId: sampleKeyId,
      countedByKey: true,
      status: 'QUEUED',
      prompt: 'a lighthouse',
      credits: 2,
      periodStartMs,
      createdAtMs: startMs,
      deadlineMs: startMs + 120_000,
      expiresAtMs: startMs + 90 * 24 * 3600 * 1000,
      idempotencyKeyHash: 'key',
    };
    expect(acceptance).toMatchObject({ outcome: 'accepted', generation, identity });
    const limits = { creditsLimit: 100, keyBudget: null, keyMaxInFlight: null, maxInFlight: 40 };
    expect(fixture.calls).toMatchObject([['reserve', generation, limits, 'h2', expect.any(Function)]]);
    // Nobody but the reservation looks at its credits.
    expect([fixture.looks.atCredits, fixture.logs.size]).toEqual([0, 0]);
    // They are counted beside the request's end.
    expect(fixture.meter.values).toEqual([]);
  });

  test('is late from its deadline on', async () => {
    const fixture = commandsFixture();
    await accept(fixture);
    const isLate = (fixture.calls as any)[0][4] as () => boolean;
    fixture.clock.nowMs = startMs + 119_999;
    expect(isLate()).toBe(false);
    fixture.clock.nowMs += 1;
    expect(isLate()).toBe(true);
  });
});

test.each([
  [2, 'This request costs 2 credits, more than'],
  [1, 'This request costs 1 credit, more than'],
])(
  'beyond the credits, a request of %i is refused with its cost, the limit and the reset',
  async (numOutputs, start) => {
    const fixture = commandsFixture();
    fixture.store.reserve = () => Promise.resolve({ outcome: 'over_limit' });
    fixture.clock.nowMs = periodEndMs - 10_001;
    const reset = new Date(periodEndMs).toISOString();
    expect(await outcomeOf(accept(fixture, { body: { ...commandOf().body, numOutputs } }))).toMatchObject({
      code: 'CREDIT_LIMIT_EXCEEDED',
      message: `${start} is left of this month's 100. The period resets at ${reset}.`,
      retryAfterSeconds: 11,
    });
    expect(fixture.meter.values).toEqual([]);
  },
);

test.each([
  [
    'over_key_budget',
    'CREDIT_LIMIT_EXCEEDED',
    "more than is left of this key's own monthly limit of 1. The period",
  ],
  [
    'too_many_in_flight',
    'RATE_LIMITED',
    'This license has 40 requests in flight, as many as it may have at a time. Try again when one has finished.',
  ],
] as const)('a reservation that is %s is refused as %s: %s', async (outcome, code, said) => {
  const fixture = commandsFixture();
  fixture.store.reserve = () => Promise.resolve({ outcome });
  const message = expect.stringContaining(said);
  expect(await outcomeOf(accept(fixture, { keyBudget: 1 }))).toMatchObject({ code, message });
});

describe('when nothing can be generated', () => {
  const without = { identity: { ...identity, model: null } };

  test('for want of a model of the identity, the refusal says so, and nothing is held', async () => {
    const fixture = commandsFixture();
    expect(await outcomeOf(accept(fixture, without))).toMatchObject({
      code: 'IDENTITY_UNAVAILABLE',
      message: 'Aurora Studio has no active model at the moment. Try again later, or use another identity.',
    });
    expect(fixture.calls).toEqual([]);
  });

  test('because all models are away, their reason is the refusal', async () => {
    const fixture = commandsFixture();
    const reason = new ServiceError('SERVICE_UNAVAILABLE', 'All models are away.');
    fixture.deps.model = { ...fixture.deps.model, refusal: () => Promise.resolve(reason) };
    expect(await outcomeOf(accept(fixture))).toBe(reason);
    expect(fixture.calls).toEqual([]);
  });

  test('what could not have been paid is refused for its credits first, to the credit', async () => {
    const fixture = commandsFixture();
    fixture.totals.committed = 99;
    expect(await outcomeOf(accept(fixture, without))).toMatchObject({
      code: 'CREDIT_LIMIT_EXCEEDED',
      retryAfterSeconds: Math.ceil((periodEndMs - startMs) / 1000),
    });
    fixture.totals.committed = 98;
    expect((await outcomeOf(accept(fixture, without))).code).toBe('IDENTITY_UNAVAILABLE');
  });
});

describe('a request that completes', () => {
  const inQueue = { event: 'queued', position: 3, etaSeconds: 9 } as const;

  test('is started, settled and answered, and measured', async () => {
    const fixture = commandsFixture(
      inQueue,
      { event: 'started' },
      { event: 'progress', step: 1, steps: 3 },
      done,
    );
    const seen: unknown[] = [];
    const observer: Observer = {
      queued: (...place) => void seen.push(place),
      started() {
        seen.push('started');
        fixture.clock.nowMs += 4000;
      },
      progress: (...step) => void seen.push(step),
    };
    const now = fixture.clock.now.bind(fixture.clock);
    let passed = 0;
    // Ten milliseconds go by between any two looks at the clock.
    fixture.deps.clock = { now: () => now() + 10 * passed++, timeout: (ms) => fixture.clock.timeout(ms) };
    const answer = await finish(fixture, observer);
    const { startedAtMs, completedAtMs, createdAtMs } = fixture.records.get('r1')!;
    expect(seen).toEqual([[3, 9], 'started', [1, 3]]);
    const completion = {
      completedAtMs,
      previews: [false, false],
      referenceImagesUsed: 1,
      modelVersion: 'v9',
    };
    expect(fixture.calls.slice(1)).toEqual([
      ['start', 'r1', startedAtMs],
      ['settle', 'r1', completion],
    ]);
    expect(answer).toMatchObject({ requestId: 'r1', processingTimeMs: completedAtMs! - createdAtMs });
    expect(fixture.meter.values).toEqual([
      ['creditsReserved', 2],
      ['queueWait', startedAtMs! - createdAtMs],
      ['paintTime', completedAtMs! - startedAtMs!],
      ['settleTime', 10],
      ['creditsSettled', 2],
      ['imagesDelivered', 2],
      ['imageBytes', 23],
    ]);
    expect(startedAtMs! - createdAtMs).toBeGreaterThan(0);
    expect(completedAtMs! - startedAtMs!).toBeGreaterThan(3999);
    expect(fixture.faults).toEqual([]);
  });

  test('unwatched, and whose answer can not be put together, says that it was charged, and not to pay again', async () => {
    const fixture = commandsFixture(
      inQueue,
      { event: 'started' },
      { event: 'progress', step: 1, steps: 3 },
      done,
    );
    const cause = new Error('no link');
    const objects = { ...fixture.deps.objects, outputLink: () => Promise.reject(cause) };
    fixture.deps.objects = objects as typeof fixture.deps.objects;
    expect(await finish(fixture)).toMatchObject({
      code: 'GENERATION_FAILED',
      message:
        'The image is finished and was charged, but its answer could not be put together. Re-fetch the request.',
      cause,
      requestId: 'r1',
    });
  });
});

describe('a request that fails', () => {
  const busy = { event: 'failed', reason: 'busy', message: '' } as const;
  const swept = { status: 'TIMEOUT', errorCode: 'TIMEOUT', errorMessage: 'Swept.' } as const;
  const refusedByAnother = { status: 'FAILED', errorCode: 'CONTENT_REFUSED', errorMessage: '' } as const;

  test('is released with its reason, and answered that nothing was charged', async () => {
    const fixture = commandsFixture(busy);
    const failure = await finish(fixture);
    const said =
      'The models are too busy for this request. Try again shortly, or ask for fewer or smaller images.';
    const message = `${said} Nothing was charged.`;
    expect(failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message, requestId: 'r1' });
    const stored = { status: 'FAILED', errorCode: 'SERVICE_UNAVAILABLE', errorMessage: said };
    expect(fixture.calls.at(-1)).toEqual(['release', 'r1', stored, startMs]);
    expect(fixture.meter.values).toEqual([
      ['creditsReserved', 2],
      ['creditsReleased', 2],
      ['refusedRuns', 1],
    ]);
    expect(fixture.faults).toEqual([['r1', 'generation failed', expect.objectContaining({ message: said })]]);
  });

  const refused = { event: 'failed', reason: 'content_refused', message: '' } as const;
  test.each<[string, ModelEvent, object, number]>([
    ['for what it shows counts as one refused picture, however many it was for', refused, {}, 1],
    ['for what it shows and was ended by another hand counts as none', refused, swept, 0],
    ['for another reason counts as none', busy, {}, 0],
    ['for another reason than the run that ended it counts as none', busy, refusedByAnother, 0],
  ])('%s', async (_how, event, byAnother, counted) => {
    const fixture = commandsFixture(event);
    const { release } = fixture.store;
    fixture.store.release = async (...args) => ({ ...(await release(...args)), ...byAnother });
    await finish(fixture);
    const pictures = fixture.meter.values.filter(([name]) => name === 'refusedPictures');
    expect(pictures).toEqual(Array.from({ length: counted }, () => ['refusedPictures', 1]));
  });

  test('says how long to wait, where its reason does', async () => {
    const fixture = commandsFixture();
    const generate = () => {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Away.', { retryAfterSeconds: 77 });
    };
    fixture.deps.model = { ...fixture.deps.model, generate };
    expect(await finish(fixture)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 77 });
    // The reason of a run that was ended by another hand is not that hand's.
    fixture.store.release = (record) => Promise.resolve({ ...record, ...swept });
    expect((await finish(fixture)).retryAfterSeconds).toBeUndefined();
  });

  test('at its deadline is stored as a TIMEOUT', async () => {
    const fixture = commandsFixture({ event: 'failed', reason: 'deadline', message: '' });
    expect((await finish(fixture)).code).toBe('TIMEOUT');
    expect(fixture.calls.at(-1)![2]).toMatchObject({ status: 'TIMEOUT', errorCode: 'TIMEOUT' });
  });

  const started = { event: 'started' } as const;
  const late = { event: 'failed', reason: 'deadline', message: '' } as const;
  test.each<[string, ModelEvent[], string | null]>([
    ['at a deadline', [started, late], null],
    ['by a reference image', [{ ...late, reason: 'reference_invalid', reference: 0 }], 'reference'],
    ['for a model that is busy', [started, busy], null],
    ['by a fault of the model', [started, { ...late, reason: 'model_error' }], null],
  ])('%s counts for its license only where its caller is the cause', async (_how, events, reason) => {
    const fixture = commandsFixture(...events);
    const { generation, ...rest } = (await accept(fixture)) as Accepted;
    const accepted = { ...rest, generation: { ...generation, referenceImages: 1 } };
    await outcomeOf(finishGeneration(accepted, license, {}, fixture.deps));
    expect(fixture.reasons).toEqual([reason]);
  });

  test('by a fault of ours says so, and nothing of the fault', async () => {
    const fixture = commandsFixture({ event: 'started' }, done);
    fixture.store.start = () => Promise.resolve(false);
    expect(await finish(fixture)).toMatchObject({
      code: 'GENERATION_FAILED',
      message: 'The image could not be finished because of a fault of ours. Nothing was charged.',
    });
    expect(fixture.faults[0]![2]).toMatchObject({
      message: 'the generation was ended while its model began',
    });
  });

  test('and can not be released is to be fetched again', async () => {
    const fixture = commandsFixture(busy);
    const cause = new Error('the table is away');
    fixture.store.release = () => Promise.reject(cause);
    const failure = await finish(fixture);
    expect(inWords((failure as ServiceError).sentence, agentWords)).toContain('Call get_generation with');
    expect(failure).toMatchObject({
      code: 'GENERATION_FAILED',
      message:
        'The outcome could not be stored. Re-fetch the request in a few minutes: unless it completed, nothing is charged.',
      cause,
      requestId: 'r1',
    });
  });

  test('and turns out to have been charged is answered as completed', async () => {
    const fixture = commandsFixture(busy);
    fixture.store.release = (record) =>
      Promise.resolve({ ...record, status: 'COMPLETED', completedAtMs: startMs });
    expect(await finish(fixture)).toMatchObject({ requestId: 'r1', usage: { creditsCharged: 2 } });
    expect(fixture.meter.values.at(-1)).toEqual(['creditsSettled', 2]);
  });

  test('after another hand ended it is answered as that stored it', async () => {
    const fixture = commandsFixture();
    const other = { status: 'TIMEOUT', errorCode: 'TIMEOUT', errorMessage: 'Swept.' } as const;
    fixture.store.settle = (record) => Promise.resolve({ ...record, ...other });
    expect(await finish(fixture)).toMatchObject({ code: 'TIMEOUT', message: 'Swept. Nothing was charged.' });
    expect(fixture.meter.values.map(([name]) => name)).not.toContain('creditsSettled');
    fixture.store.settle = (record) => Promise.resolve({ ...record, ...other, errorCode: null });
    expect((await finish(fixture)).code).toBe('GENERATION_FAILED');
  });
});

const unpaidRuns = Array.from({ length: 5 }, (_, i) => ({ atMs: startMs - i * 60_000, reason: 'reference' }));

test('after five that nobody paid for, a request is refused with what was wrong with them, and until when', async () => {
  const fixture = commandsFixture();
  const refusal = { runs: unpaidRuns, minutes: 15, untilMs: startMs + 660_000 } as UnpaidRefusal;
  fixture.store.reserve = () => Promise.resolve({ outcome: 'too_many_unpaid', refusal });
  expect(await outcomeOf(accept(fixture))).toMatchObject({
    code: 'RATE_LIMITED',
    message:
      'In 15 minutes 5 requests of this license used the model without an image: ' +
      '5 with a reference image that the model could not read. Try again in about 11 minutes.',
    retryAfterSeconds: 660,
  });
});

describe('a request with reference images', () => {
  const withImages = (changes: object = {}): Partial<GenerationCommand> => ({
    body: { ...commandOf().body, referenceImages: [{ url: 'https://a.example/1.png' }], ...changes },
    identity: { ...identity, productPhotos: true },
  });
  const copies = [['lic_1', 'r1', 1]];

  /** A fixture whose fetcher finds every picture good. */
  function fetchingFixture(...events: Parameters<typeof commandsFixture>) {
    const fixture = commandsFixture(...events);
    const fetched: unknown[][] = [];
    fixture.deps.references = {
      fetch({ requestId, items }) {
        fetched.push([requestId, fixture.calls.length, ...items]);
        return Promise.resolve(items.map(() => null));
      },
    };
    return { ...fixture, fetched };
  }

  test('has them fetched after its credits were looked at and before anything is held, and counts from then', async () => {
    const fixture = fetchingFixture();
    const { fetch } = fixture.deps.references;
    fixture.deps.references.fetch = (command) => {
      fixture.clock.nowMs += 4000;
      return fetch(command);
    };
    expect((await accept(fixture, withImages())).outcome).toBe('accepted');
    const item = { kind: 'url', url: 'https://a.example/1.png', putLink: 'copy r1/0' };
    expect(fixture.fetched).toEqual([['r1', 0, item]]);
    expect([fixture.looks.atCredits, fixture.deleted]).toEqual([1, []]);
    expect(fixture.records.get('r1')!.createdAtMs).toBe(startMs + 4000);
  });

  test('has them looked at by a dry run, and none kept', async () => {
    const fixture = fetchingFixture();
    expect(await dryRun(commandOf(withImages()), fixture.deps)).toMatchObject({ answer: { accepted: true } });
    expect(fixture.fetched).toMatchObject([['r1', 0, { putLink: null }]]);
    expect(fixture.calls).toEqual([]);
  });

  const away = new ServiceError('SERVICE_UNAVAILABLE', 'All models are away.');
  const refusals: [string, Partial<GenerationCommand>, (fixture: Fixture) => void][] = [
    ['TIER_LIMIT', { ...withImages({ width: 2048 }), license: { ...license, tier: 'starter' } }, () => {}],
    ['CREDIT_LIMIT_EXCEEDED', withImages(), (fixture) => void (fixture.totals.committed = 99)],
    [
      'IDENTITY_UNAVAILABLE',
      { ...withImages(), identity: { ...identity, productPhotos: true, model: null } },
      () => {},
    ],
    [
      'SERVICE_UNAVAILABLE',
      withImages(),
      (fixture) =>
        void (fixture.deps.model = { ...fixture.deps.model, refusal: () => Promise.resolve(away) }),
    ],
    ['RATE_LIMITED', withImages(), (fixture) => void (fixture.totals.inFlight = 40)],
    ['RATE_LIMITED', withImages(), (fixture) => void (fixture.totals.unpaid = unpaidRuns)],
    [
      'RATE_LIMITED',
      withImages(),
      (fixture) => void fixture.logs.set('lic_1 references', { log: Array(40).fill(startMs), version: 10 }),
    ],
  ];

  test.each(refusals)(
    'that is refused with %s has nothing fetched, nor stored',
    async (code, changes, prepare) => {
      for (const tried of [accept, (fixture: Fixture, of: object) => dryRun(commandOf(of), fixture.deps)]) {
        const fixture = fetchingFixture();
        prepare(fixture);
        expect(await outcomeOf(tried(fixture, changes))).toMatchObject({ code });
        expect([fixture.fetched, fixture.calls, fixture.deleted]).toEqual([[], [], []]);
      }
    },
  );

  test('has none of them fetched where its idempotency key stands for a finished one', async () => {
    const fixture = fetchingFixture();
    fixture.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    const idempotencyRecord = { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 };
    const repeat = { ...withImages(), idempotencyKeyHash: 'o', idempotencyRecord };
    expect((await accept(fixture, repeat)).outcome).toBe('replayed');
    expect([fixture.fetched, fixture.deleted]).toEqual([[], []]);
  });

  const unheld: [string, () => Promise<Reserved>][] = [
    ['over the limit', () => Promise.resolve({ outcome: 'over_limit' })],
    [
      'a repeat',
      () =>
        Promise.resolve({
          outcome: 'repeated',
          idempotencyRecord: { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 },
        }),
    ],
    ['not to be stored', () => Promise.reject(away)],
  ];
  test.each(unheld)('that its reservation finds %s leaves no copy', async (_what, reserve) => {
    const fixture = fetchingFixture();
    fixture.store.reserve = reserve;
    fixture.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    await outcomeOf(accept(fixture, { ...withImages(), idempotencyKeyHash: 'o' }));
    expect([fixture.fetched.length, fixture.deleted]).toEqual([1, copies]);
  });

  test.each([
    ['completes', done, () => {}],
    ['fails', { event: 'failed', reason: 'busy', message: '' }, () => {}],
    [
      'can not be ended',
      { event: 'failed', reason: 'busy', message: '' },
      (fixture: Fixture) =>
        void (fixture.store.release = () => Promise.reject(new Error('the table is away'))),
    ],
  ] as [string, ModelEvent, (fixture: Fixture) => void][])(
    'that %s leaves no copy',
    async (_how, event, prepare) => {
      const fixture = fetchingFixture(event);
      prepare(fixture);
      const accepted = (await accept(fixture, withImages())) as Accepted;
      expect(fixture.deleted).toEqual([]);
      await outcomeOf(finishGeneration(accepted, license, {}, fixture.deps));
      expect(fixture.deleted).toEqual(copies);
    },
  );

  test('is answered as it ended also where its copies can not be deleted', async () => {
    const fixture = fetchingFixture();
    const cause = new Error('the bucket is away');
    fixture.deps.objects.deleteReferences = () => Promise.reject(cause);
    const accepted = (await accept(fixture, withImages())) as Accepted;
    expect(await finishGeneration(accepted, license, {}, fixture.deps)).toMatchObject({ requestId: 'r1' });
    expect(fixture.faults).toEqual([['r1', 'references not deleted', cause]]);
  });
});

// The decision is the request's own, and so are its other refusals.
describe('a dry run', () => {
  const attempt = (fixture: Fixture, changes: Partial<GenerationCommand> = {}) =>
    outcomeOf(dryRun(commandOf(changes), fixture.deps));

  test('names the price and the period totals as they are, and leaves no trace', async () => {
    const fixture = commandsFixture();
    const usage = { creditsUsed: 60, creditsLimit: 100, creditsRemaining: 40, creditsCharged: 0 };
    expect(await attempt(fixture)).toEqual({
      wouldReplay: false,
      answer: {
        dryRun: true,
        accepted: true,
        identity: { id: identity.identityId, name: identity.name },
        credits: 2,
        usage: { ...usage, periodResetDate: new Date(periodEndMs).toISOString() },
      },
    });
    const { calls, meter, asked, faults } = fixture;
    expect([calls, meter.values, asked, faults]).toEqual([[], [], [], []]);
  });

  test('counts what running requests hold, to the credit', async () => {
    const fixture = commandsFixture();
    fixture.totals.committed = 99;
    expect(await attempt(fixture)).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    fixture.totals.committed = 98;
    expect(await attempt(fixture)).toMatchObject({ answer: { accepted: true } });
  });

  test('counts the requests in flight, and what the key has committed', async () => {
    const fixture = commandsFixture();
    fixture.totals.inFlight = 40;
    expect(await attempt(fixture)).toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 1 });
    fixture.totals.inFlight = 39;
    fixture.totals[committedName(sampleKeyId)] = 5;
    expect(await attempt(fixture, { keyBudget: 6 })).toMatchObject({ code: 'CREDIT_LIMIT_EXCEEDED' });
    expect(await attempt(fixture, { keyBudget: 7 })).toMatchObject({ answer: { accepted: true } });
    fixture.totals[inFlightName(sampleKeyId)] = 2;
    const message = expect.stringMatching(/^This key has 2 requests in flight/);
    expect(await attempt(fixture, { keyMaxInFlight: 2 })).toMatchObject({ code: 'RATE_LIMITED', message });
    expect(await attempt(fixture, { keyMaxInFlight: 3 })).toMatchObject({ answer: { accepted: true } });
  });

  test('whose idempotency key stands for a request that completed costs nothing, and says why', async () => {
    const fixture = commandsFixture();
    fixture.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    fixture.totals.committed = 100;
    const idempotencyRecord = { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 };
    expect(await attempt(fixture, { idempotencyKeyHash: 'hash', idempotencyRecord })).toMatchObject({
      wouldReplay: true,
      answer: { accepted: true, credits: 0, usage: { creditsUsed: 60, creditsCharged: 0 } },
    });
  });
});
