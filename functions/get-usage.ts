import type { UsageAnswer } from '../shared/contracts/usage.ts';
import { billingPeriod } from '../shared/domain/billing-period.ts';
import { usageAggregates, usageHistoryItem, usageStats } from '../shared/domain/usage.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense } from '../shared/http/owned-license.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { identityStore } from '../shared/store/identity-store.ts';
import { licenseStore } from '../shared/store/license-store.ts';
import { periodStore } from '../shared/store/period-store.ts';

const historyLength = 20;

/** GET /usage: how a license's present billing period stands. */
export const handler = endpoint(routes.getUsage, {
  deps: ({ table, clock }) => ({
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    generations: generationStore(table()),
    identities: identityStore(table()),
    clock,
  }),
  async load({ request, credential, deps }) {
    const { licenseId } = readQuery(request, ['licenseId']);
    const license = await ownedLicense(deps.licenses, credential.ownerId, licenseId);
    const nowMs = deps.clock.now();
    const period = billingPeriod(license.periodAnchorMs, nowMs);
    const [totals, newest, identities] = await Promise.all([
      deps.periods.get(license.licenseId, period.startMs),
      deps.generations.list(license.licenseId, historyLength, null),
      deps.identities.list(),
    ]);
    const history = newest.filter(
      ({ createdAtMs, expiresAtMs }) => createdAtMs >= period.startMs && expiresAtMs > nowMs,
    );
    return { license, nowMs, period, totals, history, identities };
  },
  async run({ loaded: { license, nowMs, period, totals, history, identities } }) {
    const usage: UsageAnswer = {
      licenseId: license.licenseId,
      stats: usageStats(license, totals.used, period, nowMs),
      history: history.map(usageHistoryItem),
      aggregates: usageAggregates(totals, identities, period, nowMs),
    };
    return ok(usage);
  },
});
