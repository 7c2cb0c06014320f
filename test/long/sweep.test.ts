import { expect, test } from '@jest/globals';
import { expectCharged, reserveAbandoned } from '../support/period-totals.ts';
import { grant } from '../support/grants.ts';
import { newestWith } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

const service = useService({ quickContainer: true });

test('what a dead handler still holds is given back without a restart', async () => {
  const granted = await grant(service.table);
  // Accepted two minutes ago, so its lease is over.
  const { requestId } = await reserveAbandoned(service.table, granted.license, {
    identityId: service.ready.identities.aurora!,
    acceptedAtMs: Date.now() - 120_000,
  });
  // The sweep runs each minute.
  expect(await newestWith(service, granted.key, ['TIMEOUT', 'FAILED'], 300_000)).toBe(requestId);
  await expectCharged(service.table, granted.license, 0);
}, 400_000);
