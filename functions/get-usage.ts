import type { UsageAnswer } from '../shared/licenses/usage-contract.ts';
import { creditPeriod } from '../shared/licenses/credit-period.ts';
import { keysInUse, usageAggregates, usageStats } from '../shared/licenses/usage.ts';
import { usageHistoryItem } from '../shared/generations/answers.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { ownedLicense, readLicenseId } from '../shared/http/owned-license.ts';
import { readQuery, sentQuery, collectErrors } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { apiKeyStore } from '../shared/keys/store.ts';
import { generationStore } from '../shared/generations/store.ts';
import { identityCatalog, identityStore } from '../shared/identities/store.ts';
import { licenseStore } from '../shared/licenses/store.ts';
import { periodStore } from '../shared/licenses/period-store.ts';

const historyLength = 20;

/** GET /usage: how a license's present billing period stands. */
export const handler = endpoint(routes.getUsage, {
  deps: ({ table, clock }) => ({
    licenses: licenseStore(table()),
    periods: periodStore(table()),
    generations: generationStore(table()),
    apiKeys: apiKeyStore(table()),
    identities: identityCatalog(identityStore(table()), clock),
  }),
  async run({ request, caller, deps, runtime }) {
    const [licenseId] = collectErrors(
      () => readLicenseId(sentQuery(request).licenseId),
      () => readQuery(request, ['licenseId']),
    );
    const license = await ownedLicense(deps.licenses, caller.ownerId, licenseId);
    const nowMs = runtime.clock.now();
    const period = creditPeriod(license, nowMs);
    const [totals, extra, newest, identities] = await Promise.all([
      deps.periods.get(license.licenseId, period.startMs),
      deps.periods.extraLeft(license, nowMs),
      deps.generations.list(license.licenseId, historyLength, null),
      deps.identities.list(),
    ]);
    const keys = await deps.apiKeys.getMany(keysInUse(totals));
    const history = newest.filter(({ expiresAtMs }) => expiresAtMs > nowMs);
    const usage: UsageAnswer = {
      licenseId: license.licenseId,
      stats: usageStats(license.tier, totals.used, period, extra, nowMs),
      history: history.map(usageHistoryItem),
      aggregates: usageAggregates(totals, { identities, keys }, period, nowMs),
    };
    return ok(usage);
  },
});
