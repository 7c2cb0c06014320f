import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import { newGeneration, type Generation } from '../../../shared/domain/generation.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import { generationStore } from '../../../shared/store/generation-store.ts';
import { identityStore } from '../../../shared/store/identity-store.ts';
import { periodStore } from '../../../shared/store/period-store.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
  await identityStore(world.table).put({
    identityId: 'aurora',
    name: 'Aurora',
    slug: 'aurora',
    description: 'Light.',
    catalog: 'founding',
    productPhotos: false,
    model: { version: '1', adapterKey: null, adapterSha256: null, settings: {} },
  });
});
afterAll(() => world.close());

const anchorMs = Date.UTC(2026, 0, 31, 10);

async function grant(): Promise<string> {
  const members = { tier: 'starter', creditsLimit: 500, periodAnchorMs: anchorMs } as const;
  return (await world.license(members)).licenseId;
}

/** A request that was accepted so many seconds ago, with its credits held. */
async function accept(licenseId: string, ageSeconds = 0): Promise<Generation> {
  const nowMs = Date.now() - ageSeconds * 1000;
  const body = createGenerationBody.parse({
    identityId: 'aurora',
    prompt: 'a calm\nnight',
    width: 2048,
    seed: 7,
  });
  const generation = newGeneration({
    requestId: newRequestId(nowMs),
    licenseId,
    keyId: 'key_1',
    identity: (await identityStore(world.table).get('aurora'))!,
    body,
    periodStartMs: billingPeriod(anchorMs, nowMs).startMs,
    nowMs,
    deadlineSeconds: 30,
    retentionDays: 90,
    onceId: null,
  });
  const reservation = await generationStore(world.table).reserve(generation, 1000, null);
  expect(reservation).toEqual({ outcome: 'reserved' });
  return generation;
}

async function complete(generation: Generation): Promise<Generation> {
  const store = generationStore(world.table);
  await store.start(generation, generation.createdAtMs + 100);
  const started = (await store.get(generation.licenseId, generation.requestId))!;
  const completedAtMs = generation.createdAtMs + 900;
  return store.settle(started, { completedAtMs, referenceImagesUsed: 0, modelVersion: 'painter-1' });
}

test('usage counts what is used, held and imported in the present period', async () => {
  const licenseId = await grant();
  const { startMs, endMs } = billingPeriod(anchorMs, Date.now());
  await periodStore(world.table).importUsage(licenseId, startMs, 100);
  await complete(await accept(licenseId));
  await accept(licenseId);
  const usage = await world.json(`usage ${licenseId}`);
  const tally = { requests: 1, credits: 2 };
  const none = { requests: 0, credits: 0 };
  expect(usage).toEqual({
    licenseId,
    stats: {
      current: 102,
      limit: 500,
      percentage: 20,
      billingPeriodStart: new Date(startMs).toISOString(),
      billingPeriodEnd: new Date(endMs).toISOString(),
      daysRemaining: Math.ceil((endMs - Date.now()) / 86_400_000),
      tier: 'Starter',
    },
    held: 2,
    imported: 100,
    aggregates: {
      byType: { text_to_image: tally, reference: none, exact_product: none },
      byIdentity: { aurora: { name: 'Aurora', slug: 'aurora', ...tally } },
      byDay: expect.any(Array),
    },
  });
  const today = usage.aggregates.byDay.at(-1);
  expect(today).toEqual({ date: new Date().toISOString().slice(0, 10), ...tally });
  const { stdout } = await world.admin(`usage ${licenseId}`);
  expect(stdout).toContain('102 of 500 credits (20%)');
});

test('a stored request is shown as it is stored, whatever its state', async () => {
  const licenseId = await grant();
  const open = await accept(licenseId);
  const done = await complete(await accept(licenseId));
  const [queued, completed] = await Promise.all([
    world.json(`generation show ${licenseId} ${open.requestId}`),
    world.json(`generation show ${licenseId} ${done.requestId}`),
  ]);
  const shared = {
    licenseId,
    keyId: 'key_1',
    type: 'text_to_image',
    identity: { id: 'aurora', name: 'Aurora', slug: 'aurora' },
    prompt: 'a calm\nnight',
    negativePrompt: '',
    seed: 7,
    steps: 30,
    cfgScale: 7.5,
    width: 2048,
    height: 1024,
    numOutputs: 1,
    outputFormat: 'png',
    referenceMode: 'reference',
    preserveBranding: false,
    errorMessage: null,
    errorCode: null,
    creditsReserved: 2,
    referenceImagesUsed: 0,
  };
  const iso = (ms: number) => new Date(ms).toISOString();
  const timesOf = (of: Generation) => ({
    periodStart: iso(of.periodStartMs),
    createdAt: iso(of.createdAtMs),
    deadline: iso(of.deadlineMs),
    expiresAt: iso(of.expiresAtMs),
  });
  expect(queued).toEqual({
    ...shared,
    ...timesOf(open),
    id: open.requestId,
    requestId: open.requestId,
    status: 'QUEUED',
    creditsCharged: 0,
    processingTimeMs: null,
    modelVersion: null,
    startedAt: null,
    completedAt: null,
    leaseUntil: iso(open.leaseUntilMs),
  });
  expect(completed).toEqual({
    ...shared,
    ...timesOf(done),
    id: done.requestId,
    requestId: done.requestId,
    status: 'COMPLETED',
    creditsCharged: 2,
    processingTimeMs: 900,
    modelVersion: 'painter-1',
    startedAt: iso(done.createdAtMs + 100),
    completedAt: iso(done.createdAtMs + 900),
    leaseUntil: null,
  });
});

test('a sweep ends what was abandoned, gives its credits back once, and leaves what still runs', async () => {
  const licenseId = await grant();
  const [abandoned, running] = [await accept(licenseId, 3600), await accept(licenseId)];
  expect(await world.json('sweep')).toEqual({ released: 1, failed: 0 });
  expect(await world.json('sweep')).toEqual({ released: 0, failed: 0 });
  const [ended, open] = await Promise.all([
    world.json(`generation show ${licenseId} ${abandoned.requestId}`),
    world.json(`generation show ${licenseId} ${running.requestId}`),
  ]);
  expect(ended).toMatchObject({
    status: 'TIMEOUT',
    errorCode: 'TIMEOUT',
    errorMessage: expect.any(String),
    creditsReserved: 2,
    creditsCharged: 0,
    leaseUntil: null,
  });
  expect(open.status).toBe('QUEUED');
  expect((await periodStore(world.table).get(licenseId, running.periodStartMs)).committed).toBe(2);
});

test('a request is found under its own license only', async () => {
  const [licenseId, otherId] = [await grant(), await grant()];
  const { requestId } = await accept(otherId);
  const runs = await Promise.all([
    world.admin(`generation show ${licenseId} ${requestId}`),
    world.admin(`generation show lic_unknown ${requestId}`),
  ]);
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual([
    [1, `error: The license ${licenseId} has no request ${requestId}.\n`],
    [1, 'error: There is no license lic_unknown.\n'],
  ]);
});
