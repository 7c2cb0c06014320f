import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { notificationDue } from '../../../shared/licenses/notifications.ts';
import { newId } from '../../../shared/base/ids.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { notificationStore } from '../../../shared/licenses/notification-store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { itemKeys, ttlAttribute } from '../../../shared/table/keys.ts';
import { getItem } from '../../../shared/table/table.ts';
import { sampleGeneration } from '../../support/unit-samples.ts';
import { chargesIn } from '../generations/charges.ts';
import { hungUp } from '../generations/table.ts';
import { useTable } from '../generations/use-engines.ts';

const fixture = useTable();
let { begun, settle, charge } = {} as ReturnType<typeof chargesIn>;
beforeAll(() => void ({ begun, settle, charge } = chargesIn(fixture.table)));

/** The parts of which a license's owner is to be notified. */
async function waiting(licenseId: string): Promise<number[]> {
  const { Items: items = [] } = await fixture.table.documents.send(
    new QueryCommand({
      TableName: fixture.table.name,
      KeyConditionExpression: 'PK = :partition AND begins_with(SK, :license)',
      ExpressionAttributeValues: { ':partition': 'NOTICES', ':license': `${licenseId}#` },
    }),
  );
  return items.map(({ percent }) => percent).sort((a, b) => a - b);
}

const usedBy = async (licenseId: string) =>
  (await periodStore(fixture.table).get(licenseId, sampleGeneration().periodStartMs)).used;

describe('the owner is notified', () => {
  test('once each, when a hundred requests at once use all credits', async () => {
    const licenseId = newId('license');
    const records = [];
    for (let i = 0; i < 100; i++) records.push(await begun(licenseId, 100));
    await Promise.all(records.map(settle));
    expect(await usedBy(licenseId)).toBe(100);
    expect(await waiting(licenseId)).toEqual([80, 100]);
  });

  test.each([
    [[7, 1], 10, [80]],
    [[7, 3], 10, [100]],
    [[8, 2], 10, [80, 100]],
    [[10], 10, [100]],
    [[7], 10, []],
  ])('of charges %j of %i credits: %j', async (charges, creditsLimit, expected) => {
    const licenseId = newId('license');
    for (const credits of charges) await charge(licenseId, creditsLimit, credits);
    expect(await waiting(licenseId)).toEqual(expected);
    expect(notificationDue(await usedBy(licenseId), creditsLimit, expected.at(-1) ?? 0)).toBeNull();
  });

  test('by the higher limit once it was raised, and of no part twice', async () => {
    const licenseId = newId('license');
    await charge(licenseId, 10, 8);
    await charge(licenseId, 100, 2);
    await charge(licenseId, 100, 70);
    expect(await waiting(licenseId)).toEqual([80]);
    await charge(licenseId, 100, 20);
    expect(await waiting(licenseId)).toEqual([80, 100]);
  });

  test('of credits that were imported, with the next charge', async () => {
    const licenseId = newId('license');
    const periods = periodStore(fixture.table);
    const { periodStartMs: startMs } = sampleGeneration();
    await periods.importUsage(licenseId, startMs, 90);
    const read = await periods.getMany([
      { licenseId, startMs: 0 },
      { licenseId, startMs },
    ]);
    expect(read.map(({ used }) => used)).toEqual([0, 90]);
    expect(await waiting(licenseId)).toEqual([]);
    await charge(licenseId, 100, 1);
    expect(await waiting(licenseId)).toEqual([80]);
  });

  test('of a charge that comes after the period, in which another counts what is in flight', async () => {
    const licenseId = newId('license');
    const late = await begun(licenseId, 10, 10);
    await countInPeriod(fixture.table, licenseId, Date.UTC(2026, 5, 1));
    expect((await settle(late)).status).toBe('COMPLETED');
    expect(await waiting(licenseId)).toEqual([100]);
  });
});

test('a notification waits for 40 days, and one that is put off is taken from then on, if it is still there', async () => {
  const licenseId = newId('license');
  const { completedAtMs, periodStartMs } = await charge(licenseId, 10, 8);
  const notification = { licenseId, periodStartMs, percent: 80 } as const;
  const item = await getItem(fixture.table, itemKeys.notification(notification));
  expect(item![ttlAttribute]).toBe(Math.ceil(completedAtMs! / 1000) + 40 * 24 * 3600);
  const store = notificationStore(fixture.table);
  await store.postpone(notification, 100);
  expect([await store.claim(notification, 99, 200), await store.claim(notification, 100, 200)]).toEqual([
    null,
    1,
  ]);
  await store.remove(notification);
  await expect(store.postpone(notification, 300)).rejects.toThrow('conditional');
  expect(await store.claim(notification, 300, 400)).toBeNull();
  fixture.state.before = () => hungUp();
  await expect(store.claim(notification, 300, 400)).rejects.toThrow('socket hang up');
});

describe('the charge that reaches a part', () => {
  test.each(['before', 'after'] as const)(
    'is lost with its notification or stored with it, %s being sent',
    async (when) => {
      const licenseId = newId('license');
      await charge(licenseId, 10, 7);
      const crossing = await begun(licenseId, 10, 1);
      // The first attempt is refused, because the charge reaches a part; the second is the one that does it.
      let sent = 0;
      fixture.state[when] = (name) =>
        name === 'TransactWriteItemsCommand' && (when === 'after' || ++sent > 1) ? hungUp() : undefined;
      const settled = await settle(crossing).catch(() => null);
      fixture.mend();
      const stored = when === 'after';
      expect(settled === null).toBe(!stored);
      expect([await usedBy(licenseId), await waiting(licenseId)]).toEqual(stored ? [8, [80]] : [7, []]);
      // Whoever tries again finds it charged, or charges it.
      await settle(crossing);
      expect([await usedBy(licenseId), await waiting(licenseId)]).toEqual([8, [80]]);
    },
  );

  test('takes one more attempt, and no other charge does', async () => {
    const licenseId = newId('license');
    const transactions = async (credits: number) => {
      const record = await begun(licenseId, 10, credits);
      const counted = fixture.count('TransactWriteItemsCommand');
      await settle(record);
      fixture.mend();
      return counted.times;
    };
    const sent = [];
    for (const credits of [7, 1, 1, 1]) sent.push(await transactions(credits));
    expect(sent).toEqual([1, 2, 1, 2]);
  });

  test('of a record of before there were notifications notifies nobody', async () => {
    const licenseId = newId('license');
    const old = { ...(await begun(licenseId, 10, 10)), creditsLimit: null };
    await settle(old);
    expect(await waiting(licenseId)).toEqual([]);
  });
});
