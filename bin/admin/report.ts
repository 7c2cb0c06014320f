import { isoTime } from '../../shared/base/clock.ts';
import { periodEndMs } from '../../shared/licenses/credit-period.ts';
import type { License } from '../../shared/licenses/license.ts';
import type { Period } from '../../shared/licenses/period-store.ts';
import type { CommandGroup, Session } from './command.ts';
import { reportModeration } from './report-moderation.ts';
import { readableTime, table, type Answer } from '../common/output.ts';
import { month as monthOf, type Month } from '../common/values.ts';
import type { OptionRow } from '../common/command-line.ts';

interface ReportOptions {
  month: Month;
}

const options: OptionRow[] = [
  ['--month <yyyy-mm>', 'the month in which the billing periods ended, UTC', monthOf, { required: true }],
];

/** For who keeps the books. */
export const reportCommands: CommandGroup = {
  name: 'report',
  description:
    'what all licenses used in the billing periods that ended in a month, or were refused in it; reads the whole table once',
  examples: [
    'report usage --month 2026-10',
    'report identities --month 2026-10 --json',
    'report moderation --month 2026-10',
  ],
  commands: [
    {
      name: 'usage',
      description: 'requests and credits of each license',
      options,
      run:
        ({ month }: ReportOptions) =>
        (session) =>
          reportUsage(session, month),
    },
    {
      name: 'identities',
      description: 'requests and credits of each identity, which is what its creator is owed for',
      options,
      run:
        ({ month }: ReportOptions) =>
        (session) =>
          reportIdentities(session, month),
    },
    {
      name: 'moderation',
      description:
        'what each license was refused for its content, by category, and its share of what was refused so or completed in the month; without prompts; counts are kept for 66 days',
      options: [['--month <yyyy-mm>', 'the calendar month, UTC', monthOf, { required: true }]],
      run:
        ({ month }: ReportOptions) =>
        (session) =>
          reportModeration(session, month),
    },
  ],
};

interface EndedPeriod extends Period {
  license: License;
  startMs: number;
  endMs: number;
}

/** So many licenses are read at a time. */
const atATime = 10;

async function endedPeriods({ stores, nowMs }: Session, of: Month): Promise<EndedPeriod[]> {
  const licenses = await stores.licenses.listAll();
  const found: EndedPeriod[] = [];
  for (let i = 0; i < licenses.length; i += atATime) {
    const reads = licenses.slice(i, i + atATime).map(async (license) => {
      const periods = await stores.periods.list(license.licenseId);
      return periods.map((one) => {
        return { ...one, license, endMs: periodEndMs(license, one.startMs, one.endMs) };
      });
    });
    found.push(...(await Promise.all(reads)).flat());
  }
  // A period ends with the instant before its end, so that a calendar month's is of that month.
  return found.filter(({ endMs }) => endMs > of.startMs && endMs <= of.endMs && endMs <= nowMs);
}

async function reportUsage(session: Session, of: Month): Promise<Answer> {
  const ended = await endedPeriods(session, of);
  const emails = await session.accounts.emailsOf([...new Set(ended.map(({ license }) => license.ownerId))]);
  const licenses = ended.map(({ license, startMs, endMs, byType, used, imported }) => ({
    licenseId: license.licenseId,
    ownerId: license.ownerId,
    ownerEmail: emails.get(license.ownerId) ?? null,
    tier: license.tier,
    periodStart: isoTime(startMs),
    periodEnd: isoTime(endMs),
    requests: sumOf(Object.values(byType), 'requests'),
    credits: used,
    imported,
  }));
  const total = {
    requests: sumOf(licenses, 'requests'),
    credits: sumOf(licenses, 'credits'),
    imported: sumOf(licenses, 'imported'),
  };
  const rows = ended.map(({ startMs, endMs }, i) => {
    const { licenseId, ownerId, ownerEmail, tier, requests, credits, imported } = licenses[i]!;
    const period = [readableTime(startMs), readableTime(endMs)];
    return [licenseId, ownerEmail ?? ownerId, tier, ...period, requests, credits, imported];
  });
  const headings = ['LICENSE', 'OWNER', 'TIER', 'FROM', 'TO', 'REQUESTS', 'CREDITS', 'IMPORTED'];
  const last = ['all', '', '', '', '', total.requests, total.credits, total.imported];
  return { json: { month: of.name, licenses, total }, text: textOf(of, headings, rows, last) };
}

async function reportIdentities(session: Session, of: Month): Promise<Answer> {
  const [ended, known] = await Promise.all([endedPeriods(session, of), session.stores.identities.list()]);
  const tallies = ended.flatMap(({ license: { licenseId }, byIdentity }) =>
    Object.entries(byIdentity).map(([identityId, tally]) => ({ identityId, licenseId, ...tally })),
  );
  const byId = new Map(known.map((identity) => [identity.identityId, identity]));
  const identities = [...Map.groupBy(tallies, ({ identityId }) => identityId)]
    .map(([identityId, uses]) => ({
      identityId,
      // One that is gone is named by its id.
      name: byId.get(identityId)?.name ?? identityId,
      slug: byId.get(identityId)?.slug ?? identityId,
      licenses: new Set(uses.map(({ licenseId }) => licenseId)).size,
      requests: sumOf(uses, 'requests'),
      credits: sumOf(uses, 'credits'),
    }))
    .sort((a, b) => b.credits - a.credits);
  const total = {
    licenses: new Set(tallies.map(({ licenseId }) => licenseId)).size,
    requests: sumOf(identities, 'requests'),
    credits: sumOf(identities, 'credits'),
  };
  const rows = identities.map(({ identityId, name, slug, licenses, requests, credits }) => {
    return [name, slug, identityId, licenses, requests, credits];
  });
  const headings = ['IDENTITY', 'SLUG', 'ID', 'LICENSES', 'REQUESTS', 'CREDITS'];
  const last = ['all', '', '', total.licenses, total.requests, total.credits];
  return { json: { month: of.name, identities, total }, text: textOf(of, headings, rows, last) };
}

type Rows = (string | number)[][];

function textOf({ name }: Month, headings: string[], rows: Rows, total: Rows[number]): string {
  if (rows.length === 0) return `No billing period in which credits were used ended in ${name}.`;
  return table(headings, [...rows, total]);
}

function sumOf<K extends string>(rows: readonly Record<K, number>[], member: K): number {
  return rows.reduce((sum, row) => sum + row[member], 0);
}
