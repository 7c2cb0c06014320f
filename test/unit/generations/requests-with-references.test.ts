import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import type { Reserved } from '../../../shared/generations/store.ts';
import {
  finishGeneration,
  type Accepted,
  type GenerationCommand,
} from '../../../shared/generations/create.ts';
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

describe('a request with reference images', () => {
  const withImages = (changes: object = {}): Partial<GenerationCommand> => ({
    body: { ...commandOf().body, referenceImages: [{ url: 'https://a.example/1.png' }], ...changes },
    identity: { ...identity, productPhotos: true },
  });
  const copies = [['lic_1', 'r1', 1]];

  /** A fixture whose fetcher finds every picture good, or this wrong with the first. */
  function fetchingFixture(problem: string | null = null, ...events: Parameters<typeof commandsFixture>) {
    const fixture = commandsFixture(...events);
    const fetched: unknown[][] = [];
    fixture.deps.references = {
      fetch({ requestId, items }) {
        fetched.push([requestId, fixture.calls.length, ...items]);
        return Promise.resolve(items.map((_, i) => (i === 0 ? problem : null)));
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

  test('is refused for one that can not be used after everything else, and leaves no copy', async () => {
    const fixture = fetchingFixture('can not be read');
    expect(await outcomeOf(accept(fixture, withImages()))).toMatchObject({
      code: 'INVALID_PARAMETERS',
      message: 'referenceImages[0].url: can not be read.',
    });
    expect([fixture.calls, fixture.deleted]).toEqual([[], copies]);
  });

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
      const fixture = fetchingFixture(null, event);
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
