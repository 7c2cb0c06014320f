import { beforeAll, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import type { Generation } from '../../../shared/domain/generation.ts';
import type { License } from '../../../shared/domain/license.ts';
import { generationStore } from '../../../shared/store/generation-store.ts';
import { identityStore } from '../../../shared/store/identity-store.ts';
import { periodStore } from '../../../shared/store/period-store.ts';
import { periodTotals, reserveAbandoned } from '../../support/period-totals.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { useAdmin } from './world.ts';

const world = useAdmin();
const identity = { ...sampleIdentity, identityId: 'aurora', name: 'Aurora', slug: 'aurora' };
beforeAll(() => identityStore(world.table).put(identity));

const anchorMs = Date.UTC(2026, 0, 31, 10);

const grant = () => world.license({ tier: 'starter', creditsLimit: 500, periodAnchorMs: anchorMs });

/** A request of one credit that was accepted so many seconds ago, with its credit held. */
const accept = (license: License, ageSeconds = 0) =>
  reserveAbandoned(world.table, license, {
    identityId: 'aurora',
    prompt: 'a calm\nnight',
    acceptedAtMs: Date.now() - ageSeconds * 1000,
  });

async function complete(generation: Generation): Promise<Generation> {
  const store = generationStore(world.table);
  await store.start(generation, generation.createdAtMs + 100, 'run-1');
  const started = (await store.get(generation.licenseId, generation.requestId))!;
  const completedAtMs = generation.createdAtMs + 900;
  return store.settle(started, {
    completedAtMs,
    previews: [],
    referenceImagesUsed: 0,
    modelVersion: 'painter-1',
  });
}

test('usage counts what is used, held and imported in the present period', async () => {
  const license = await grant();
  const { licenseId } = license;
  const { startMs, endMs } = billingPeriod(anchorMs, Date.now());
  await periodStore(world.table).importUsage(licenseId, startMs, 100);
  await complete(await accept(license));
  await accept(license);
  const usage = await world.json(`usage ${licenseId}`);
  const tally = { requests: 1, credits: 1 };
  const none = { requests: 0, credits: 0 };
  expect(usage).toEqual({
    licenseId,
    stats: {
      current: 101,
      limit: 500,
      percentage: 20,
      billingPeriodStart: new Date(startMs).toISOString(),
      billingPeriodEnd: new Date(endMs).toISOString(),
      daysRemaining: Math.ceil((endMs - Date.now()) / 86_400_000),
      tier: 'Starter',
    },
    held: 1,
    imported: 100,
    aggregates: {
      byType: { text_to_image: tally, reference: none, exact_product: none },
      byIdentity: { aurora: { name: 'Aurora', slug: 'aurora', ...tally } },
      byDay: expect.arrayContaining([{ date: expect.any(String), ...tally }]),
    },
  });
  const { stdout } = await world.admin(`usage ${licenseId}`);
  expect(stdout).toContain('101 of 500 credits (20%)');
});

/** What the operator is shown of a record: neither its idempotency key nor what only the service needs. */
function shownOf(generation: Generation) {
  const { idempotencyKeyHash: _key, referenceImages: _count, previews: _previews, ...shown } = generation;
  const { credits, leaseUntilMs, ...rest } = shown;
  const { periodStartMs, createdAtMs, startedAtMs, completedAtMs, deadlineMs, expiresAtMs, ...same } = rest;
  const iso = (ms: number | null) => ms && new Date(ms).toISOString();
  return {
    ...same,
    id: generation.requestId,
    creditsReserved: credits,
    periodStart: iso(periodStartMs),
    createdAt: iso(createdAtMs),
    startedAt: iso(startedAtMs),
    completedAt: iso(completedAtMs),
    deadline: iso(deadlineMs),
    leaseUntil: iso(leaseUntilMs),
    expiresAt: iso(expiresAtMs),
  };
}

const show = ({ licenseId, requestId }: Generation) =>
  world.json(`generation show ${licenseId} ${requestId}`);

test('a stored request is shown as it is stored, whatever its state', async () => {
  const license = await grant();
  const queued = await accept(license);
  const completed = await complete(await accept(license));
  expect(await show(queued)).toEqual({
    ...shownOf(queued),
    status: 'QUEUED',
    creditsCharged: 0,
    processingTimeMs: null,
  });
  expect(await show(completed)).toEqual({
    ...shownOf(completed),
    status: 'COMPLETED',
    creditsCharged: 1,
    processingTimeMs: 900,
    leaseUntil: null,
  });
});

test('a sweep ends what was abandoned, gives its credits back once, and leaves what still runs', async () => {
  const license = await grant();
  const [abandoned, running] = [await accept(license, 3600), await accept(license)];
  expect(await world.json('sweep')).toEqual({ released: 1, failed: 0 });
  expect(await world.json('sweep')).toEqual({ released: 0, failed: 0 });
  expect(await show(abandoned)).toMatchObject({ status: 'TIMEOUT', errorCode: 'TIMEOUT', creditsCharged: 0 });
  expect((await show(running)).status).toBe('QUEUED');
  expect(await periodTotals(world.table, license)).toEqual({ used: 0, committed: 1 });
});

test('a request is found under its own license only', async () => {
  const [license, other] = [await grant(), await grant()];
  const { requestId } = await accept(other);
  const runs = await Promise.all([
    world.admin(`generation show ${license.licenseId} ${requestId}`),
    world.admin(`generation show lic_unknown ${requestId}`),
  ]);
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
    [1, `error: The license ${license.licenseId} has no request ${requestId}.\n`],
    [1, 'error: There is no license lic_unknown.\n'],
  ]);
});
