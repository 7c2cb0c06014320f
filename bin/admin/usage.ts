import { creditPeriod } from '../../shared/licenses/credit-period.ts';
import type { ExtraLeft } from '../../shared/licenses/extra-credits.ts';
import { keysInUse, usageAggregates, usageStats } from '../../shared/licenses/usage.ts';
import type { UsageAggregates } from '../../shared/licenses/usage-contract.ts';
import type { CommandRow, Session } from './command.ts';
import { getLicense } from './get-license.ts';
import { counted, keyValues, readableTime, table, type Answer } from '../common/output.ts';
import { id } from '../common/values.ts';

export const usageCommand: CommandRow = {
  name: 'usage',
  description: "a license's credits and statistics in its present billing period",
  operands: [['<license>', 'its id', id]],
  examples: ['usage lic_…', 'usage lic_… --json'],
  run: (_, licenseId: string) => (session) => show(session, licenseId),
};

async function show(session: Session, licenseId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  const license = await getLicense(session, licenseId);
  const period = creditPeriod(license, nowMs);
  const [totals, extra, identities] = await Promise.all([
    stores.periods.get(licenseId, period.startMs),
    stores.periods.extraLeft(license, nowMs),
    stores.identities.list(),
  ]);
  const stats = usageStats(license.tier, totals.used, period, extra, nowMs);
  const held = totals.committed - totals.used;
  const { imported } = totals;
  const keys = await stores.apiKeys.getMany(keysInUse(totals));
  const aggregates = usageAggregates(totals, { identities, keys }, period, nowMs);
  const summary = keyValues([
    ['License', `${licenseId} (${stats.tier})`],
    ['Period', `${readableTime(period.startMs)} to ${readableTime(period.endMs)}`],
    ['Left', counted(stats.daysRemaining, 'day')],
    ['Used', `${stats.current} of ${stats.limit} credits (${stats.percentage}%)`],
    ...extraRow(extra),
    ['Held', `${held} by requests that run now`],
    ['Imported', `${imported} used elsewhere, part of what is used`],
  ]);
  return {
    json: { licenseId, stats, held, imported, aggregates },
    text: [summary, ...breakdown(aggregates)].join('\n\n'),
  };
}

function extraRow(extra: ExtraLeft | null): [string, string][] {
  return extra === null
    ? []
    : [['Extra', `${extra.remaining} left, the first expire ${readableTime(extra.expiresAtMs)}`]];
}

function breakdown({ byType, byIdentity, byKey }: UsageAggregates): string[] {
  const types = Object.entries(byType).map(([type, { requests, credits }]) => [type, requests, credits]);
  const identities = Object.values(byIdentity)
    .sort((a, b) => b.credits - a.credits)
    .map(({ name, slug, requests, credits }) => [name, slug, requests, credits]);
  const tables = [table(['TYPE', 'REQUESTS', 'CREDITS'], types)];
  if (identities.length > 0) tables.push(table(['IDENTITY', 'SLUG', 'REQUESTS', 'CREDITS'], identities));
  const keys = Object.entries(byKey)
    .sort(([, a], [, b]) => b.credits - a.credits)
    .map(([keyId, { name, requests, credits }]) => [name, keyId, requests, credits]);
  if (keys.length > 0) tables.push(table(['NAME', 'KEY', 'REQUESTS', 'CREDITS'], keys));
  return tables;
}
