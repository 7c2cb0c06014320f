import { beforeAll, expect, test } from '@jest/globals';
import { identityStore } from '../../../shared/identities/store.ts';
import { periodEndMs } from '../../../shared/licenses/credit-period.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import { addRefusal, countedCategory } from '../../../shared/limits/refusal-store.ts';
import { refusalsEndSeconds } from '../../../shared/limits/refusals.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { reserveAbandoned } from '../../support/period-totals.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
const dayMs = 86_400_000;
const nowMs = Date.now();
/** The month that is on, and the three before it, by name. */
const months = [0, 1, 2, 3].map((back) => {
  const now = new Date(nowMs);
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7);
});

beforeAll(async () => {
  for (const slug of ['aurora', 'harbor'])
    await identityStore(fixture.table).put({ ...sampleIdentity, identityId: slug, name: slug, slug });
});

/** A request of one credit that completed so many days ago. */
async function made(license: License, identityId: string, daysAgo: number): Promise<void> {
  const store = generationStore(fixture.table);
  const acceptedAtMs = nowMs - daysAgo * dayMs - 1000;
  const of = { identityId, prompt: 'a calm night', acceptedAtMs, periodAtMs: acceptedAtMs };
  const accepted = await reserveAbandoned(fixture.table, license, of);
  await store.start(accepted, acceptedAtMs + 100, 'run-1');
  const started = (await store.get(accepted.licenseId, accepted.requestId))!;
  const completion = {
    completedAtMs: acceptedAtMs + 900,
    previews: [],
    referenceImagesUsed: 0,
    modelVersion: 'v',
  };
  await store.settle(started, completion);
}

test('a month’s reports are the stored sums of the periods that ended in it, each period in one month, and of nothing else', async () => {
  // The first one's periods begin on the last day of short months.
  const anchors = [Date.UTC(2025, 0, 31, 10), Date.UTC(2025, 0, 1)];
  const licenses: License[] = [];
  for (const periodAnchorMs of anchors) {
    const license = await fixture.license({ tier: 'pro', creditsLimit: 500, periodAnchorMs });
    licenses.push(license);
    for (const daysAgo of [0, 20, 40, 65]) {
      await made(license, 'aurora', daysAgo);
      await made(license, 'harbor', daysAgo);
    }
  }
  const periods = periodStore(fixture.table);
  const stored = await Promise.all(
    licenses.map(async (license) =>
      (await periods.list(license.licenseId)).map((one) => ({
        license,
        ...one,
        endMs: periodEndMs(license, one.startMs, one.endMs),
      })),
    ),
  );
  const [first] = stored[0]!;
  await periods.importUsage(licenses[0]!.licenseId, first!.startMs, 7);
  const ended = stored.flat().filter(({ endMs }) => endMs <= nowMs);
  expect(ended.length).toBeGreaterThanOrEqual(4);
  const reported: any[] = [];
  for (const month of months) {
    const usage = await fixture.json(`report usage --month ${month}`);
    const byIdentity = await fixture.json(`report identities --month ${month}`);
    reported.push(...usage.licenses);
    for (const { periodEnd } of usage.licenses)
      expect(new Date(Date.parse(periodEnd) - 1).toISOString().slice(0, 7)).toBe(month);
    const { requests, credits, imported } = usage.total;
    expect(byIdentity.total).toMatchObject({ requests, credits: credits - imported });
    expect(byIdentity.identities.map(({ slug }: any) => slug).sort()).toEqual(
      requests === 0 ? [] : ['aurora', 'harbor'],
    );
  }
  const expected = ended.map(({ license: { licenseId }, startMs, used }) => {
    return [
      licenseId,
      startMs,
      startMs === first!.startMs && licenseId === licenses[0]!.licenseId ? used + 7 : used,
    ];
  });
  expect(reported.map((row) => [row.licenseId, Date.parse(row.periodStart), row.credits]).sort()).toEqual(
    expected.sort(),
  );
  const { stdout } = await fixture.admin(`report identities --month ${months[1]}`);
  expect(stdout).toMatch(/^all +\d+ +\d+ +\d+\n/m);
  expect(await fixture.refused(2, 'report usage --month 2026-13')).toContain('must be a month (2026-11)');
});

test('a period that went on past a month stays in the reports of the month in which it ended, once another has begun', async () => {
  const [ended, before] = [months[1]!, months[2]!];
  const endMs = Date.parse(`${ended}-05`);
  // A month after it began is in the month before.
  const startMs = Date.parse(`${before}-05`) - 15 * dayMs;
  const carried = { startMs, endMs, creditsLimit: 500 };
  const license = await fixture.license({ tier: 'pro', creditsLimit: 500, periodAnchorMs: endMs, carried });
  await made(license, 'aurora', (nowMs - endMs) / dayMs + 1);
  const rows = async (month: string) =>
    (await fixture.json(`report usage --month ${month}`)).licenses.filter(
      ({ licenseId }: any) => licenseId === license.licenseId,
    );
  const period = { periodStart: new Date(startMs).toISOString(), periodEnd: new Date(endMs).toISOString() };
  expect(await rows(ended)).toMatchObject([{ ...period, credits: 1 }]);
  await licenseStore(fixture.table).update(license.licenseId, { carried: null });
  expect(await rows(ended)).toMatchObject([{ ...period, credits: 1 }]);
  expect(await rows(before)).toEqual([]);
});

test('refusals for content are reported by license and category, of their month alone, while the next month lasts', async () => {
  const { table } = fixture;
  const license = await fixture.license({ tier: 'pro', periodAnchorMs: Date.UTC(2025, 0, 31) });
  const { licenseId } = license;
  const month = months[0]!;
  await made(license, 'aurora', 0);
  // Without a refusal: it counts in the share of all.
  await made(await fixture.license({ tier: 'pro' }), 'aurora', 0);
  const firstMs = Date.parse(`${month}-01`);
  const refuse = (atMs: number, caller: string, ...counts: string[]) =>
    addRefusal(table, { licenseId, caller }, counts, atMs, AbortSignal.timeout(5000));
  const [violence, hostile] = ['violence', 'constructor'].map(countedCategory);
  await refuse(firstMs, 'playground', 'CONTENT_REFUSED', violence!, hostile!);
  await refuse(nowMs, 'playground', 'CONTENT_REFUSED', violence!);
  await refuse(nowMs, 'key_1', 'CONTENT_REFUSED');
  await refuse(nowMs, 'key_1', 'INVALID_PARAMETERS');
  await refuse(firstMs - 1, 'key_1', 'CONTENT_REFUSED', violence!);
  const { licenses, total } = await fixture.json(`report moderation --month ${month}`);
  const counts = { refused: 3, completed: 1, percent: 75, categories: { violence: 2, constructor: 1 } };
  expect(licenses).toEqual([expect.objectContaining({ licenseId, ...counts })]);
  const { completed, percent } = total;
  expect(total).toEqual({ ...counts, completed, percent });
  expect(completed).toBeGreaterThan(1);
  expect(percent).toBe(Math.round(3000 / (3 + completed)) / 10);
  const { stdout } = await fixture.admin(`report moderation --month ${month}`);
  expect(stdout).toMatch(/^all licenses +3 +\d+ +[\d.]+% +violence 2, constructor 1\n/m);
  expect((await fixture.json(`report moderation --month ${months[1]}`)).total).toMatchObject({ refused: 1 });
  expect(await fixture.refused(1, `report moderation --month ${months[3]}`)).toContain('are gone');
  expect(
    await fixture.refused(1, `report moderation --month ${new Date(nowMs).getUTCFullYear() + 1}-12`),
  ).toContain('has not begun');
  // The 1st of a month, on the last day of the next.
  expect(refusalsEndSeconds('2026-07-01')).toBeGreaterThan(Date.UTC(2026, 8, 1) / 1000);
});
