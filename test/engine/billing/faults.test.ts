import { writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { envelope } from '../../unit/billing/delivery.ts';
import { eventsOf, t } from '../../unit/billing/stripe-fixtures.ts';
import { prices, useBilling, useFunction } from './fixture.ts';

useBilling();
const { pricesFile, lines, send } = useFunction(() => 'no-such-table');
const created = eventsOf('sub_1').created(t);
const messages = [created, { ...created, type: 'customer.created' }].map(envelope);

test('without readable prices no record is taken, and the error names the file and the entry', async () => {
  const rejected = (why: string) =>
    expect(send(...messages)).rejects.toThrow(`The file ${pricesFile} can't be used. ${why}`);
  await rejected('ENOENT');
  writeFileSync(pricesFile, '{');
  await rejected('It is not JSON.');
  writeFileSync(pricesFile, JSON.stringify({ ...prices, price_bad: { tier: 'gold' } }));
  await rejected('The billing prices are wrong: "price_bad" tier must be one of');
  expect(lines).toEqual([]);
});

test('a fault of the table fails the record and says where it came from, not what it was about', async () => {
  writeFileSync(pricesFile, JSON.stringify(prices));
  const { failed, logged } = await send(...messages);
  expect(failed).toEqual([0]);
  const error = [{ name: 'ResourceNotFoundException' }];
  expect(logged).toMatchObject([
    { level: 'error', outcome: 'failed', reason: 'fault', error },
    { outcome: 'ignored' },
  ]);
});
