import { expect, test } from '@jest/globals';
import { revokeInRounds, usesAfterEach } from '../support/revocation-rounds.ts';
import { useService } from '../support/use-service.ts';

const service = useService({ quickContainer: true });
const rounds = 1000;

test('no request that begins after a revocation was answered is accepted: 10,000 tries, none', async () => {
  const seen = await revokeInRounds(service, rounds);
  expect(seen).toMatchObject({ after: rounds * usesAfterEach, acceptedAfter: 0, refusedOtherwise: 0 });
  // Each key worked until then, and some of its uses met the revocation on their way.
  expect(seen.acceptedBefore).toBe(rounds);
  expect(seen.acceptedDuring).toBeGreaterThan(0);
}, 900_000);
