import { describe, expect, test } from '@jest/globals';
import type { Generation } from '../../../shared/generations/generation.ts';
import type { IdempotencyRecord } from '../../../shared/generations/idempotency-store.ts';
import { accept, commandsFixture, outcomeOf, queued, startMs, type Fixture } from './fixture.ts';

describe('a request with an idempotency key that was used before', () => {
  const idempotencyRecord: IdempotencyRecord = {
    requestId: 'r0',
    bodyHash: 'hash',
    expiresAtMs: startMs + 1,
  };
  const first = (fixture: Fixture, changes: Partial<Generation>) =>
    fixture.records.set('r0', queued({ requestId: 'r0', ...changes }));
  const completed = { startedAtMs: startMs + 5, completedAtMs: startMs + 9, credits: 2 };
  const inProgress = {
    code: 'IDEMPOTENCY_IN_PROGRESS',
    message:
      'The first request with this Idempotency-Key is still running. Repeat this one in a moment for its result.',
    requestId: 'r0',
  };

  /** As it was read with the request, and as it is only met when the credits are reserved. */
  const ways: [string, (fixture: Fixture, found?: IdempotencyRecord) => Promise<unknown>][] = [
    [
      'read before',
      (fixture, found = idempotencyRecord) =>
        accept(fixture, { idempotencyRecord: found, idempotencyKeyHash: 'o' }),
    ],
    [
      'met by the reservation',
      (fixture, found = idempotencyRecord) => {
        fixture.store.reserve = () => Promise.resolve({ outcome: 'repeated', idempotencyRecord: found });
        return accept(fixture, { idempotencyKeyHash: 'o' });
      },
    ],
  ];

  describe.each(ways)('%s', (way, send) => {
    test('gets the first answer, and nothing is held or generated', async () => {
      const fixture = commandsFixture();
      first(fixture, { status: 'COMPLETED', ...completed });
      expect(await send(fixture)).toMatchObject({
        outcome: 'replayed',
        answer: { requestId: 'r0', seed: 5, outputs: ['get r0/0', 'get r0/1'], usage: { creditsCharged: 2 } },
      });
      expect([fixture.calls, fixture.meter.values, fixture.asked]).toEqual([[], [], []]);
    });

    test.each(['QUEUED', 'PROCESSING'] as const)('is asked to wait while the first is %s', async (status) => {
      const fixture = commandsFixture();
      first(fixture, { status });
      expect(await outcomeOf(send(fixture))).toMatchObject(inProgress);
    });

    test('is refused with another body, without a word of the first', async () => {
      const fixture = commandsFixture();
      first(fixture, { status: 'COMPLETED', ...completed });
      const refused = await outcomeOf(send(fixture, { ...idempotencyRecord, bodyHash: 'other' }));
      const message =
        'This Idempotency-Key was used with another body. Send the same body again, or use a new key.';
      expect(refused).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH', message });
      expect(refused.requestId).toBeUndefined();
    });

    test('is refused where the first was deleted', async () => {
      const message =
        'The first request with this Idempotency-Key was deleted. Use a new key to generate again.';
      const refused = await outcomeOf(send(commandsFixture()));
      expect(refused).toMatchObject({ code: 'REQUEST_NOT_FOUND', message });
    });

    test.each(['FAILED', 'TIMEOUT'] as const)('after a first that is %s may run', async (status) => {
      const fixture = commandsFixture();
      first(fixture, { status });
      // The reservation found the key held, so whoever holds it is still at it.
      if (way === 'read before') expect(await send(fixture)).toMatchObject({ outcome: 'accepted' });
      else expect(await outcomeOf(send(fixture))).toMatchObject(inProgress);
    });
  });

  test('a day ago runs like any other, from the very millisecond', async () => {
    const fixture = commandsFixture();
    first(fixture, { status: 'COMPLETED', ...completed });
    const ended = { ...idempotencyRecord, expiresAtMs: startMs };
    expect((await accept(fixture, { idempotencyRecord: ended })).outcome).toBe('accepted');
    expect((await accept(fixture, { idempotencyRecord })).outcome).toBe('replayed');
  });
});
