import { isOpen, isPeriod, wrongPeriod, wrongTallies } from '../faults/simulation/invariants.ts';
import type { Item } from '../../shared/table/table.ts';
import { licenseIdOfGeneration } from '../../shared/table/keys.ts';

/**
 * What does not add up in a whole table once nothing runs any more, as sentences: every request has ended, period totals
 * are what its COMPLETED requests cost, within the limit, and an idempotency key was charged once.
 */
export function wrongAtRest(items: Item[]): string[] {
  const requests = items.filter(({ PK }) => PK.startsWith('GEN#')).map((item) => ({ item }));
  const periods = items.filter(({ PK, SK }) => isPeriod({ PK, SK }));
  const limits = new Map(
    items.filter(({ SK }) => SK === 'LICENSE').map((item) => [item.licenseId, item.creditsLimit]),
  );
  const byPeriod = Map.groupBy(
    requests,
    ({ item }) => `PERIOD#${licenseIdOfGeneration(item)} ${new Date(item.periodStartMs).toISOString()}`,
  );
  const problems = requests.filter(isOpen).map(({ item }) => `${item.SK} is ${item.status} at rest.`);
  for (const period of periods) {
    const name = `${period.PK} ${period.SK}`;
    const made = byPeriod.get(name) ?? [];
    byPeriod.delete(name);
    const wrong = wrongPeriod(period, made) ?? wrongTallies(period, made);
    if (wrong !== null) problems.push(`${name}: ${wrong}.`);
    const limit = limits.get(period.PK.slice('PERIOD#'.length));
    if (period.inFlight) problems.push(`${name}: ${period.inFlight} counted in flight at rest.`);
    const own = period.used - (period.fromExtra ?? 0);
    if (own > limit) problems.push(`${name}: ${own} used of ${limit}.`);
  }
  for (const name of byPeriod.keys()) problems.push(`${name} has requests and no totals.`);
  return [...problems, ...chargedTwice(requests.map(({ item }) => item))];
}

function chargedTwice(requests: Item[]): string[] {
  const charged = requests.filter(({ status, onceId }) => status === 'COMPLETED' && onceId !== undefined);
  const byKey = Map.groupBy(charged, ({ keyId, onceId }) => `${keyId} ${onceId}`);
  return [...byKey]
    .filter(([, { length }]) => length > 1)
    .map(([name]) => `${name} was charged twice for one idempotency key.`);
}
