import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { handler } from '../../../functions/billing-events.ts';
import { envelope, sqsRecord } from '../../unit/billing/delivery.ts';
import { stripeEvent, subscription } from '../../unit/billing/stripe-fixtures.ts';
import { prices, useBilling, useFunction } from './fixture.ts';

useBilling();
const { pricesFile, lines } = useFunction(() => 'no-such-table');
const Records = [
  sqsRecord('m0', envelope(stripeEvent('customer.subscription.created', subscription()))),
  sqsRecord(
    'm1',
    envelope({ id: 'evt_1', type: 'customer.created', created: 1, livemode: false, data: {} } as any),
  ),
];

test('without readable prices no record is taken, and the error names the file and the entry', async () => {
  await expect(handler({ Records })).rejects.toThrow(`The file ${pricesFile} can't be used. ENOENT`);
  writeFileSync(pricesFile, '{');
  await expect(handler({ Records })).rejects.toThrow(`The file ${pricesFile} can't be used. It is not JSON.`);
  writeFileSync(pricesFile, JSON.stringify({ ...prices, price_bad: { tier: 'gold' } }));
  await expect(handler({ Records })).rejects.toThrow(
    `The file ${pricesFile} can't be used. The billing prices are wrong: "price_bad" tier must be one of`,
  );
  expect(lines).toEqual([]);
});

test('a fault of the table fails the record and says where it came from, not what it was about', async () => {
  writeFileSync(pricesFile, JSON.stringify(prices));
  const { batchItemFailures } = await handler({ Records });
  expect(batchItemFailures).toEqual([{ itemIdentifier: 'm0' }]);
  const [failed, ignored] = lines.map((line) => JSON.parse(line));
  expect(failed).toMatchObject({
    level: 'error',
    outcome: 'failed',
    reason: 'fault',
    error: [{ name: 'ResourceNotFoundException' }],
  });
  expect(ignored).toMatchObject({ outcome: 'ignored' });
});
