import { committedName, tallyNames } from '../../../shared/licenses/period-store.ts';
import type { Item } from '../../../shared/table/table.ts';

/** A generation that completed. Those that were accepted before keys were counted have no key. */
export type Completed = Parameters<typeof tallyNames>[0] & { credits: number };

/** The period's item after these were settled, as DynamoDB's ADD makes it: a number that is missing begins at nothing. */
export function settle(completed: Completed[]): Item {
  const item: Item = { PK: 'PERIOD#lic_1', SK: '2026-01-31T10:00:00.000Z' };
  const add = (name: string, value: number) =>
    (item[name] = (Object.hasOwn(item, name) ? item[name] : 0) + value);
  for (const { credits, ...of } of completed) {
    for (const name of ['committed', 'used']) add(name, credits);
    if (of.keyId !== null) add(committedName(of.keyId), credits);
    for (const [requests, charged] of tallyNames(of)) {
      add(requests, 1);
      add(charged, credits);
    }
  }
  return item;
}
