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
  commandsWorld,
  done,
  identity,
  license,
  outcomeOf,
  queued,
  startMs,
  type World,
} from './world.ts';

describe('a request with reference images', () => {
  const withImages = (changes: object = {}): Partial<GenerationCommand> => ({
    body: { ...commandOf().body, referenceImages: [{ url: 'https://a.example/1.png' }], ...changes },
    identity: { ...identity, productPhotos: true },
  });
  const copies = [['lic_1', 'r1', 1]];

  /** A world whose fetcher finds every picture good, or this wrong with the first. */
  function fetchingWorld(problem: string | null = null, ...events: Parameters<typeof commandsWorld>) {
    const world = commandsWorld(...events);
    const fetched: unknown[][] = [];
    world.deps.references = {
      fetch({ requestId, items }) {
        fetched.push([requestId, world.calls.length, ...items]);
        return Promise.resolve(items.map((_, i) => (i === 0 ? problem : null)));
      },
    };
    return { ...world, fetched };
  }

  test('has them fetched for itself before anything is held, and after its credits were looked at', async () => {
    const world = fetchingWorld();
    expect((await accept(world, withImages())).outcome).toBe('accepted');
    const item = { kind: 'url', url: 'https://a.example/1.png', putLink: 'copy r1/0' };
    expect(world.fetched).toEqual([['r1', 0, item]]);
    expect([world.looks.atCredits, world.deleted]).toEqual([1, []]);
  });

  test('counts from the moment when they were there', async () => {
    const world = fetchingWorld();
    const { fetch } = world.deps.references;
    world.deps.references.fetch = (command) => {
      world.clock.nowMs += 4000;
      return fetch(command);
    };
    await accept(world, withImages());
    expect(world.records.get('r1')!.createdAtMs).toBe(startMs + 4000);
  });

  const away = new ServiceError('SERVICE_UNAVAILABLE', 'All models are away.');
  const refusals: [string, Partial<GenerationCommand>, (world: World) => void][] = [
    ['TIER_LIMIT', { ...withImages({ width: 2048 }), license: { ...license, tier: 'starter' } }, () => {}],
    ['CREDIT_LIMIT_EXCEEDED', withImages(), (world) => void (world.totals.committed = 99)],
    [
      'IDENTITY_UNAVAILABLE',
      { ...withImages(), identity: { ...identity, productPhotos: true, model: null } },
      () => {},
    ],
    [
      'SERVICE_UNAVAILABLE',
      withImages(),
      (world) => void (world.deps.model = { ...world.deps.model, refusal: () => Promise.resolve(away) }),
    ],
    [
      'RATE_LIMITED',
      withImages(),
      (world) => void world.logs.set('lic_1 references', { log: Array(40).fill(startMs), version: 10 }),
    ],
  ];

  test.each(refusals)(
    'that is refused with %s has nothing fetched, nor stored',
    async (code, changes, prepare) => {
      for (const tried of [accept, (world: World, of: object) => dryRun(commandOf(of), world.deps)]) {
        const world = fetchingWorld();
        prepare(world);
        expect(await outcomeOf(tried(world, changes))).toMatchObject({ code });
        expect([world.fetched, world.calls, world.deleted]).toEqual([[], [], []]);
      }
    },
  );

  test('hears that one of them can not be used after everything else, and leaves no copy', async () => {
    const world = fetchingWorld('can not be read');
    expect(await outcomeOf(accept(world, withImages()))).toMatchObject({
      code: 'INVALID_PARAMETERS',
      message: 'referenceImages[0].url: can not be read.',
    });
    expect([world.calls, world.deleted]).toEqual([[], copies]);
  });

  test('has none of them fetched where its idempotency key stands for a finished one', async () => {
    const world = fetchingWorld();
    world.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    const idempotencyRecord = { requestId: 'r0', bodyHash: 'hash', expiresAtMs: startMs + 1 };
    const repeat = { ...withImages(), idempotencyKeyHash: 'o', idempotencyRecord };
    expect((await accept(world, repeat)).outcome).toBe('replayed');
    expect([world.fetched, world.deleted]).toEqual([[], []]);
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
    const world = fetchingWorld();
    world.store.reserve = reserve;
    world.records.set('r0', queued({ requestId: 'r0', status: 'COMPLETED' }));
    await outcomeOf(accept(world, { ...withImages(), idempotencyKeyHash: 'o' }));
    expect([world.fetched.length, world.deleted]).toEqual([1, copies]);
  });

  test.each([
    ['completes', done, () => {}],
    ['fails', { event: 'failed', reason: 'busy', message: '' }, () => {}],
    ['meets its deadline', { event: 'failed', reason: 'deadline', message: '' }, () => {}],
    [
      'can not be ended',
      { event: 'failed', reason: 'busy', message: '' },
      (world: World) => void (world.store.release = () => Promise.reject(new Error('the table is away'))),
    ],
  ] as [string, ModelEvent, (world: World) => void][])(
    'that %s leaves no copy',
    async (_how, event, prepare) => {
      const world = fetchingWorld(null, event);
      prepare(world);
      const accepted = (await accept(world, withImages())) as Accepted;
      expect(world.deleted).toEqual([]);
      await outcomeOf(finishGeneration(accepted, license, {}, world.deps));
      expect(world.deleted).toEqual(copies);
    },
  );

  test('is answered as it ended also where its copies can not be deleted', async () => {
    const world = fetchingWorld();
    const cause = new Error('the bucket is away');
    world.deps.objects.deleteReferences = () => Promise.reject(cause);
    const accepted = (await accept(world, withImages())) as Accepted;
    expect(await finishGeneration(accepted, license, {}, world.deps)).toMatchObject({ requestId: 'r1' });
    expect(world.faults).toEqual([['r1', 'references not deleted', cause]]);
  });
});
