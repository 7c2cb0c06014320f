import { beforeAll, describe, expect, test } from '@jest/globals';
import { dataFolder, writeJson } from '../../../local/data-folder.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import { systemClock } from '../../../shared/base/clock.ts';
import { objectStore } from '../../../shared/images/object-store.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import type { License } from '../../../shared/licenses/license.ts';
import { beginDeletion } from '../../../shared/generations/delete.ts';
import { deletionStore } from '../../../shared/generations/deletion-store.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import { activityItem } from '../../../shared/licenses/activity.ts';
import { allRights } from '../../../shared/keys/rights.ts';
import { identityStore } from '../../../shared/identities/store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { periodTotals, reserveAbandoned } from '../../support/period-totals.ts';
import { sampleIdentity } from '../../support/unit-samples.ts';
import { useAdmin } from './fixture.ts';

const fixture = useAdmin();
const identity = { ...sampleIdentity, identityId: 'aurora', name: 'Aurora', slug: 'aurora' };
beforeAll(() => identityStore(fixture.table).put(identity));

const anchorMs = Date.UTC(2026, 0, 31, 10);

const grant = () => fixture.license({ tier: 'starter', creditsLimit: 500, periodAnchorMs: anchorMs });

const nobodysKey = `key_${'0'.repeat(32)}`;

/** A request of one credit that was accepted so many seconds ago, with its credit held. */
const accept = (license: License, ageSeconds = 0, keyId = nobodysKey) =>
  reserveAbandoned(fixture.table, license, {
    identityId: 'aurora',
    prompt: 'a calm\nnight',
    acceptedAtMs: Date.now() - ageSeconds * 1000,
    keyId,
  });

async function complete(generation: Generation): Promise<Generation> {
  const store = generationStore(fixture.table);
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
  await periodStore(fixture.table).importUsage(licenseId, startMs, 100);
  await complete(await accept(license));
  await accept(license);
  const usage = await fixture.json(`usage ${licenseId}`);
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
      byKey: { [nobodysKey]: { ...tally, name: 'removed key' } },
      byIdentity: { aurora: { name: 'Aurora', slug: 'aurora', ...tally } },
      byDay: expect.arrayContaining([{ date: expect.any(String), ...tally }]),
    },
  });
  const { stdout } = await fixture.admin(`usage ${licenseId}`);
  expect(stdout).toContain('101 of 500 credits (20%)');
});

const show = ({ licenseId, requestId }: Generation, ...more: string[]) =>
  fixture.json(`generation show ${licenseId} ${requestId}`, ...more);

test('a stored request is shown as it is stored, and neither its idempotency key nor what only the service needs', async () => {
  const license = await grant();
  const queued = await accept(license);
  const completed = await complete(await accept(license));
  const iso = (ms: number) => new Date(ms).toISOString();
  const shown = await show(completed);
  const { requestId, createdAtMs, completedAtMs, expiresAtMs } = completed;
  expect(shown).toMatchObject({
    id: requestId,
    requestId,
    status: 'COMPLETED',
    creditsReserved: 1,
    creditsCharged: 1,
    processingTimeMs: 900,
    createdAt: iso(createdAtMs),
    completedAt: iso(completedAtMs!),
    expiresAt: iso(expiresAtMs),
    leaseUntil: null,
    deadline: expect.any(String),
  });
  for (const hidden of [
    'prompt',
    'negativePrompt',
    'outputs',
    'idempotencyKeyHash',
    'previews',
    'countedByKey',
    'creditsLimit',
    'leaseUntilMs',
  ])
    expect(shown).not.toHaveProperty(hidden);
  expect(await show(queued)).toMatchObject({
    status: 'QUEUED',
    creditsReserved: 1,
    creditsCharged: 0,
    processingTimeMs: null,
    completedAt: null,
    leaseUntil: iso(queued.leaseUntilMs),
  });
});

test('its prompt and its images are shown with a reason, which the audit log keeps and its owner does not see', async () => {
  const request = await complete(await accept(await grant()));
  const { licenseId, requestId, prompt } = request;
  const why = 'asked for by ticket 7';
  for (const half of [['--prompt'], ['--reason', why]])
    expect(await fixture.refused(2, `generation show ${licenseId} ${requestId}`, ...half)).toContain(
      'together',
    );
  expect((await fixture.json(`audit ${licenseId}`)).entries).toHaveLength(1);
  expect(await show(request, '--prompt', '--reason', why)).toMatchObject({
    prompt,
    outputs: [expect.stringContaining('X-Amz-Signature=')],
  });
  const { entries } = await fixture.json(`audit ${licenseId}`);
  const asked = { member: 'request', from: null, to: requestId };
  const reason = { member: 'readBecause', from: null, to: why };
  expect(entries[0]).toMatchObject({ action: 'request_read', changes: [asked, reason] });
  expect(activityItem({ ...entries[0], atMs: 0 })).toMatchObject({ keyId: null, changes: [asked] });
});

test('what runs when its license is suspended ends as it would, and is charged', async () => {
  const request = await accept(await grant());
  await fixture.json(`license suspend ${request.licenseId} --yes --reason`, 'Chargeback');
  await complete(request);
  expect(await show(request)).toMatchObject({ status: 'COMPLETED', creditsCharged: 1 });
});

test('a sweep ends what was abandoned, gives its credits back once, and leaves what still runs', async () => {
  const license = await grant();
  const [abandoned, running] = [await accept(license, 3600), await accept(license)];
  expect(await fixture.json('sweep')).toEqual({ released: 1, failed: 0 });
  expect(await fixture.json('sweep')).toEqual({ released: 0, failed: 0 });
  expect(await show(abandoned)).toMatchObject({ status: 'TIMEOUT', errorCode: 'TIMEOUT', creditsCharged: 0 });
  expect((await show(running)).status).toBe('QUEUED');
  expect(await periodTotals(fixture.table, license)).toEqual({ used: 0, committed: 1 });
});

describe('generation list', () => {
  const idsOf = ({ generations }: any) => generations.map(({ requestId }: any) => requestId);
  const ownerId = 'lister';
  const otherKey = `key_${'1'.repeat(32)}`;
  let requests: Generation[];
  let licenses: License[];

  beforeAll(async () => {
    licenses = [await fixture.license({ ownerId }), await fixture.license({ ownerId })];
    const [first, second] = licenses as [License, License];
    const newest = await complete(await accept(second));
    const older = [await accept(first, 100, otherKey), await accept(second, 200), await accept(first, 300)];
    requests = [newest, ...older];
  });

  test('is of a license or of an account, newest first, without prompts', async () => {
    const all = await fixture.json(`generation list --owner ${ownerId}`);
    expect(idsOf(all)).toEqual(requests.map(({ requestId }) => requestId));
    expect(all.hasMore).toBe(false);
    expect(JSON.stringify(all)).not.toMatch(/prompt|calm/i);
    const ofOne = await fixture.json(`generation list ${licenses[0]!.licenseId}`);
    expect(idsOf(ofOne)).toEqual([requests[1]!.requestId, requests[3]!.requestId]);
    expect(ofOne.generations[0]).toEqual(await show(requests[1]!));
    const { stdout } = await fixture.admin(`generation list --owner ${ownerId}`);
    expect(stdout).toMatch(/^REQUEST +LICENSE +CREATED +STATUS +ERROR +IDENTITY +OUTPUTS +CREDITS +KEY\n/);
    expect(stdout).not.toContain('calm');
  });

  test('is narrowed by status, identity and time, and says when there are more', async () => {
    const list = async (options: string) =>
      idsOf(await fixture.json(`generation list --owner ${ownerId} ${options}`));
    const ids = requests.map(({ requestId }) => requestId);
    const [, later, earlier] = requests.map(({ createdAtMs }) => new Date(createdAtMs).toISOString());
    expect(await list('--status COMPLETED')).toEqual([ids[0]]);
    expect(await list('--status QUEUED')).toEqual(ids.slice(1));
    expect(await list('--identity aurora')).toEqual(ids);
    expect(await list('--identity other')).toEqual([]);
    expect(await list('--type exact_product')).toEqual([]);
    expect(await list(`--key ${otherKey}`)).toEqual([ids[1]]);
    expect(await list(`--key key_${'2'.repeat(32)}`)).toEqual([]);
    expect(await list(`--since ${earlier}`)).toEqual(ids.slice(0, 3));
    expect(await list(`--until ${earlier}`)).toEqual(ids.slice(3));
    expect(await list(`--since ${earlier} --until ${later}`)).toEqual([ids[2]]);
    expect(await list('--limit 3')).toEqual(ids.slice(0, 3));
    const { stdout } = await fixture.admin(`generation list --owner ${ownerId} --limit 3`);
    expect(stdout).toContain('older requests');
    expect((await fixture.json(`generation list --owner ${ownerId} --limit 4`)).hasMore).toBe(false);
  });

  test('of an account without licenses is empty', async () => {
    expect(await fixture.json('generation list --owner nobody')).toEqual({ generations: [], hasMore: false });
  });
});

describe('generation delete', () => {
  /** A completed request with its image in the bucket. */
  async function stored(ageSeconds: number) {
    const license = await grant();
    const request = await complete(await accept(license, ageSeconds));
    pointSdkAt(fixture.engines);
    const objects = objectStore(fixture.engines.bucketName);
    const put = { method: 'PUT', headers: { 'content-type': 'image/png' }, body: 'x' };
    await fetch(await objects.outputPutLink(request, 0, 60), put);
    expect(await objects.outputSize(request, 0)).toBe(1);
    return { license, request, objects, ids: `${request.licenseId} ${request.requestId}` };
  }

  test('erases a request with its images, as its owner could, and its credits stay used', async () => {
    const { license, request, objects, ids } = await stored(3600);
    const { licenseId, requestId } = request;
    expect(await fixture.json(`generation delete --yes ${ids}`)).toEqual({ requestId, deleted: true });
    expect(await objects.outputSize(request, 0)).toBeNull();
    expect((await fixture.json(`generation list ${licenseId}`)).generations).toEqual([]);
    const gone = `error: The license ${licenseId} has no request ${requestId}.\n`;
    for (const command of ['show', 'delete --yes'])
      expect(await fixture.refused(1, `generation ${command} ${ids}`)).toBe(gone);
    expect(await periodTotals(fixture.table, license)).toMatchObject({ used: 1 });
  });

  test('is refused without --yes, while the request runs, and for a request of another license', async () => {
    const { request, objects, ids } = await stored(0);
    const running = await accept(await grant());
    const refused = (words: string) => fixture.refused(1, `generation delete ${words}`);
    expect(await refused(ids)).toContain(`add --yes to delete the request ${request.requestId}`);
    expect(await refused(`--yes ${running.licenseId} ${running.requestId}`)).toContain('is still running');
    expect(await refused(`--yes ${running.licenseId} ${request.requestId}`)).toContain('has no request');
    expect(await objects.outputSize(request, 0)).toBe(1);
    expect((await show(running)).status).toBe('QUEUED');
  });

  test('says where images may be left, and goes on with them later', async () => {
    const { request, objects, ids } = await stored(0);
    const deletions = deletionStore(fixture.table);
    const deps = { deletions, objects, clock: systemClock };
    await beginDeletion(request.requestId, [request.licenseId], allRights, deps);
    const { engines: path } = dataFolder(fixture.folder);
    writeJson(path, { ...fixture.engines, bucketName: 'another' });
    const failure = await fixture.refused(1, `generation delete --yes ${ids}`);
    writeJson(path, fixture.engines);
    expect(failure).toContain('some of its images may still be there');
    expect(await objects.outputSize(request, 0)).toBe(1);
    await fixture.refused(1, `generation show ${ids}`);
    expect((await fixture.json(`generation delete --yes ${ids}`)).deleted).toBe(true);
    expect(await objects.outputSize(request, 0)).toBeNull();
    // A late image may still come, so the deletion is remembered; nobody is asked about it again.
    expect((await fixture.admin(`generation delete ${ids}`)).stderr).toContain('has no request');
  });
});
