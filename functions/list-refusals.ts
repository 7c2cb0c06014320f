import { playgroundCaller } from '../shared/generations/contract.ts';
import { maxRefusalDays } from '../shared/limits/refusal-days.ts';
import type { RefusalDay, RefusalList } from '../shared/limits/contract.ts';
import { dateOf, type Refusal } from '../shared/limits/refusals.ts';
import { ServiceError } from '../shared/base/errors.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { listRefusals } from '../shared/limits/refusal-store.ts';

/** GET /licenses/{licenseId}/refusals: how often its keys and its playground were refused, by day and error code. */
export const handler = endpoint(routes.listRefusals, {
  deps: ({ table }) => ({ table: table(), licenses: licenseStore(table()) }),
  async run({ request, caller, deps, runtime }) {
    const days = readDays(readQuery(request, ['days']).days);
    const { licenseId } = await ownedLicense(deps.licenses, caller.ownerId, request.pathParameters.licenseId);
    const firstDate = dateOf(runtime.clock.now(), days - 1);
    const list: RefusalList = { days: byDay(await listRefusals(deps.table, licenseId, firstDate)) };
    return ok(list);
  },
});

/** @throws INVALID_PARAMETERS for anything but a whole number from 1 to 30. */
function readDays(sent: string | undefined): number {
  if (sent === undefined) return maxRefusalDays;
  const days = /^[0-9]{1,2}$/.test(sent) ? Number(sent) : 0;
  if (days < 1 || days > maxRefusalDays) {
    throw new ServiceError('INVALID_PARAMETERS', `days must be a whole number from 1 to ${maxRefusalDays}.`);
  }
  return days;
}

/** @param refusals newest day first */
function byDay(refusals: Refusal[]): RefusalDay[] {
  return [...Map.groupBy(refusals, ({ date }) => date)].map(([date, ofDay]) => ({
    date,
    refusals: ofDay
      .toSorted((one, other) => other.count - one.count)
      .map(({ caller, code, count }) => ({
        keyId: caller === playgroundCaller ? null : caller,
        code,
        count,
      })),
  }));
}
