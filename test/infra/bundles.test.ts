import { testAccounts } from './account-bundles.ts';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import { everything } from '../support/configurations.ts';
import type { DeployedCall } from '../support/deployed-calls.ts';
import { startDeployed, type Deployed } from '../support/deployed.ts';
import { startLambda } from '../support/lambda-process.ts';
import { allObjects } from '../support/objects.ts';
import { openImage } from '../support/png.ts';
import { inRepository } from '../support/repository.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { synthesize, type Synthesized } from '../support/synthesized.ts';
import { tableRequestsPath } from '../support/table-requests.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { agent, agentBundleTests } from './agent-bundles.ts';
import { asyncBundleTests } from './async-bundles.ts';
import { bundleFileTests } from './bundle-files.ts';
import { deletionBundleTests } from './deletion-bundles.ts';
import { openAiBundleTests } from './openai-bundles.ts';
import { refusalBundleTests } from './refusal-bundles.ts';

/** The bundles run as they would on AWS: with the roles and the variables of the template. */
let synthesized: Synthesized;
let service: RunningService;
let deployed: Deployed;
let session: string;
/** Of the completed generation that the first test makes. */
let requestId: string;

const maxGenerateBytes = 600_000;
/** Of every function's code, which a cold start reads: bytes minified, and then gzipped. */
const bundleSizesPath = inRepository('test/infra/bundle-sizes.txt');
const functionNames = readdirSync('functions').map((file) => file.replace(/\.ts$/, ''));
const generate = 'create-generation';
const playground = 'create-playground-generation';
const openAiGenerate = 'create-openai-image';

function sizesOf(file: string): [bytes: number, gzipBytes: number] {
  const code = readFileSync(file);
  return [code.length, gzipSync(code).length];
}

beforeAll(async () => {
  synthesized = synthesize(everything, { bundle: true });
  service = await startService();
  session = await sessionOf(service.dataDir);
  deployed = await startDeployed(synthesized, service);
}, 240_000);

afterAll(async () => {
  await deployed?.close();
  await service?.end('SIGKILL');
  if (service) removeFolder(service.dataDir);
  synthesized?.remove();
});

const call = (name: string, options: DeployedCall) => deployed.call(name, options);
const byKey = (options: DeployedCall = {}) => ({ key: service.ready.keys.pro!, ...options });
const bySession = (options: DeployedCall = {}) => ({ key: session, ...options });
const licenseId = () => service.ready.licenses.pro!;
const body = (more: object = {}) => ({ ...small, identityId: service.ready.identities.aurora, ...more });
const playgroundBody = (more: object = {}) => body({ licenseId: licenseId(), ...more });

describe('POST /generate', () => {
  test('streams its prelude, eight NULs and its body, the presigned URLs work, and it is replayed', async () => {
    const request = byKey({ body: body(), headers: { 'idempotency-key': 'bundle-1' } });
    const { raw, status, headers, body: answer } = await call(generate, request);
    expect(raw!.indexOf(Buffer.alloc(8))).toBeGreaterThan(0);
    expect(status).toBe(200);
    expect(headers['x-request-id']).toBe(answer.requestId);
    await Promise.all(answer.outputs.map(openImage));
    ({ requestId } = answer);
    const again = await call(generate, request);
    expect(again).toMatchObject({ status: 200, body: { requestId } });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  test('streams events to a client that asks for them', async () => {
    const options = byKey({ body: body(), headers: { accept: 'text/event-stream' } });
    const { status, headers, text } = await call(generate, options);
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(text.match(/^event: \w+/gm)).toEqual(
      expect.arrayContaining(['event: accepted', 'event: started', 'event: completed']),
    );
  });

  test('releases the credits of a failed generation, and signs the URL of an adapter', async () => {
    const { flint, ember } = service.ready.identities;
    const headers = { 'idempotency-key': 'bundle-2' };
    const failed = await call(generate, byKey({ headers, body: body({ identityId: flint }) }));
    expect(failed).toMatchObject({ status: 500, body: { code: 'GENERATION_FAILED' } });
    const unavailable = await call(generate, byKey({ body: body({ identityId: ember }) }));
    expect(unavailable).toMatchObject({ status: 503, body: { code: 'IDENTITY_UNAVAILABLE' } });
    const adapted = byKey({ body: body({ identityId: deployed.adaptedIdentityId }) });
    expect((await call(generate, adapted)).status).toBe(200);
  });

  test('refuses with a real status', async () => {
    const refused = await call(generate, { key: 'svc_live_x', body: body() });
    expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
  });

  test('lets pages of the dashboard and of the configured origins read the answer, and no others', async () => {
    const allowedFor = async (origin: string) =>
      (await call(generate, { body: {}, headers: { origin } })).headers['access-control-allow-origin'];
    for (const origin of ['https://app.example.com', 'http://localhost:5173']) {
      expect(await allowedFor(origin)).toBe(origin);
    }
    expect(await allowedFor('https://other.test')).toBeUndefined();
  });
});

test('a reference image is read by a role that may do nothing, the model uses it, and it is deleted', async () => {
  const { citrine } = service.ready.identities;
  for (const { name, caller, named } of [
    { name: generate, caller: byKey(), named: {} },
    { name: playground, caller: bySession(), named: { licenseId: licenseId() } },
  ]) {
    const { status, body: upload } = await call('create-upload', { ...caller, body: named });
    expect(status).toBe(201);
    await sendFile(upload, await samplePhoto());
    const request = body({ identityId: citrine, referenceImages: [{ uploadId: upload.uploadId }], ...named });
    const answer = await call(name, { ...caller, body: request });
    expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    const byLink = { ...request, referenceImages: [{ url: 'https://nobody.invalid/a.png' }] };
    const refused = await call(name, { ...caller, body: byLink });
    expect(refused).toMatchObject({ status: 400, body: { code: 'INVALID_PARAMETERS' } });
  }
  expect(deployed.asked('fetch-references')).toEqual([]);
  const copies = allObjects(service.dataDir).filter(({ key }) => key.startsWith('references/'));
  expect(copies).toEqual([]);
});

asyncBundleTests(() => ({ deployed, service, session }));
agentBundleTests(() => ({ deployed, service, session }));
openAiBundleTests(() => ({ deployed, service, session }));
deletionBundleTests(() => ({ deployed, service, session }));
refusalBundleTests(() => ({ deployed, service }));

describe('by session', () => {
  test('the playground generates, replays and releases credits', async () => {
    const request = bySession({ body: playgroundBody(), headers: { 'idempotency-key': 'bundle-3' } });
    const made = await call(playground, request);
    expect(made.status).toBe(200);
    await Promise.all(made.body.outputs.map(openImage));
    expect((await call(playground, request)).body.requestId).toBe(made.body.requestId);
    const adapted = bySession({ body: playgroundBody({ identityId: deployed.adaptedIdentityId }) });
    expect((await call(playground, adapted)).status).toBe(200);
    const failing = playgroundBody({ identityId: service.ready.identities.flint });
    const headers = { 'idempotency-key': 'bundle-4' };
    expect((await call(playground, bySession({ headers, body: failing }))).status).toBe(500);
  });

  test('keys are created, listed, changed and revoked, and the trail tells of it', async () => {
    const made = await call('create-key', bySession({ body: { licenseId: licenseId(), name: 'bundle' } }));
    expect(made.status).toBe(201);
    const { keyId } = made.body;
    const listed = await call('list-keys', bySession());
    expect(listed.body.keys.map((key: any) => key.keyId)).toContain(keyId);
    const change = { method: 'PATCH', parameters: { keyId }, body: { name: 'changed', monthlyCredits: 9 } };
    const changed = await call('update-key', bySession(change));
    expect(changed).toMatchObject({ status: 200, body: { name: 'changed', monthlyCredits: 9 } });
    const revoked = await call('revoke-key', bySession({ method: 'DELETE', parameters: { keyId } }));
    expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked' } });
    const options = bySession({ parameters: { licenseId: licenseId() } });
    const { activity } = (await call('list-activity', options)).body;
    const { days } = (await call('list-refusals', options)).body;
    expect(days[0].refusals.length).toBeGreaterThan(0);
    const ofKey = activity.filter((one: any) => one.keyId === keyId);
    expect(ofKey.map(({ action }: any) => action)).toEqual(['key_revoked', 'key_changed', 'key_issued']);
  });

  test('licenses and usage are answered', async () => {
    const { body: answer } = await call('list-licenses', bySession());
    expect(answer.licenses.map((license: any) => license.licenseId)).toContain(licenseId());
    const usage = await call('get-usage', bySession({ query: { licenseId: licenseId() } }));
    expect(usage).toMatchObject({ status: 200, body: { licenseId: licenseId() } });
  });
});

describe('by key and by session', () => {
  const ofLicense = () => [byKey(), bySession({ query: { licenseId: licenseId() } })];

  test('a stored request is answered again, with a presigned URL that works', async () => {
    for (const caller of [byKey(), bySession()]) {
      const { body: stored } = await call('get-generation', { ...caller, parameters: { requestId } });
      expect(stored.status).toBe('COMPLETED');
      await openImage(stored.outputUrl);
    }
  });

  test('stored requests are listed', async () => {
    for (const options of ofLicense()) {
      const { body: list } = await call('list-generations', options);
      await openImage(list.generations.find(({ id }: any) => id === requestId).outputUrl);
    }
  });

  test('identities are listed', async () => {
    for (const options of [...ofLicense(), bySession()]) {
      const { body: list } = await call('list-identities', options);
      expect(list.identities.map(({ name }: any) => name)).toContain('aurora');
      const { samples } = list.identities.find(({ name }: any) => name === 'adapted');
      expect(samples[0].thumbnailUrl).toContain('/samples/');
    }
  });
});

test('health probes the model', async () => {
  const health = await call('get-health', {});
  expect(health).toMatchObject({ status: 200, body: { status: 'ok', inference: 'up' } });
});

test('the sweep ends an abandoned request, deletes its references and frees its idempotency key', async () => {
  await deployed.abandonGeneration();
  const { failed, returned } = await deployed.invoke('sweep', {});
  expect([failed, returned]).toEqual([undefined, null]);
  expect(deployed.logOf('sweep')).toMatch(/"LeasesReleased":1/);
});

testAccounts(() => deployed, bySession);

test("Stripe's events create a license and change it", async () => {
  const { returned } = await deployed.invoke('billing-events', deployed.billingEvents());
  expect(returned).toEqual({ batchItemFailures: [] });
  expect(await deployed.billedLicense()).toMatchObject({ tier: 'pro', status: 'active' });
});

describe('the roles', () => {
  test('allow everything that the functions did here', () => {
    expect(deployed.refused).toEqual([]);
  });

  test('are asked of the table what table-requests.txt lists (else run this file with WRITE_TABLE_REQUESTS=yes)', () => {
    const requests = `${deployed.tableRequests().toSorted().join('\n')}\n`;
    if (process.env.WRITE_TABLE_REQUESTS) writeFileSync(tableRequestsPath, requests);
    expect(requests).toBe(readFileSync(tableRequestsPath, 'utf8'));
  });

  test('allow nothing of the table, the bucket, the model and other functions that no function did here', () => {
    // Only the first to sign a link to a preview in a quarter of an hour stores what signed it; only a charge that reaches 80
    // or 100% leaves a notice. Who lists identities signs by itself only where the role that all share can't be had.
    const rare = /:PutItem on .* keys (LINKS|NOTICES)\*$|^list-identities: s3:GetObject on .*\/samples\/\*/;
    const others = deployed.grantedButUnused().filter((what) => !rare.test(what));
    expect(others).toEqual([]);
  });
});

describe('the bundles', () => {
  const fileOf = (name: string) => join(deployed.assetOf(name), 'index.js');

  test.each([generate, playground, openAiGenerate])('%s has at most 600,000 bytes', (name) => {
    expect(sizesOf(fileOf(name))[0]).toBeLessThanOrEqual(maxGenerateBytes);
  });

  test('are within 5% of the sizes in bundle-sizes.txt (else run this file with WRITE_BUNDLE_SIZES=yes)', () => {
    const built = functionNames.map((name) => [name, ...sizesOf(fileOf(name))] as const);
    if (process.env.WRITE_BUNDLE_SIZES) {
      writeFileSync(bundleSizesPath, built.map((row) => `${row.join(' ')}\n`).join(''));
    }
    const listed = readFileSync(bundleSizesPath, 'utf8').trim().split('\n');
    const rows = listed.map((line) => line.split(' '));
    expect(rows.map(([name]) => name)).toEqual(functionNames);
    const isOff = (size: number, i: number, j: number) =>
      Math.abs(Number(rows[i]![j + 1]) - size) > 0.05 * size;
    const wrong = built.filter(([, ...sizes], i) => sizes.some((size, j) => isOff(size, i, j)));
    expect(wrong).toEqual([]);
  });

  bundleFileTests(functionNames, fileOf);

  test('log the places in the sources where an error came from', async () => {
    // Without its variables no function can do anything.
    const lambda = await startLambda(fileOf('get-usage'), {});
    await lambda.invoke({
      httpMethod: 'GET',
      path: '/api/v1/usage',
      headers: { authorization: `Bearer ${session}` },
    });
    await lambda.end();
    expect(lambda.log()).toMatch(/"at ([^"]*\/)?shared\/base\/config\.ts:\d+:\d+"/);
    expect(lambda.log()).not.toContain('index.js:');
  });

  test('stream exactly where the routes say so', () => {
    expect(deployed.streaming().toSorted()).toEqual([agent, generate, openAiGenerate, playground].toSorted());
  });

  test('write no key, prompt or presigned URL to their logs, but what they measured', () => {
    const log = deployed.logs();
    expect(log).toMatch(/"CreditsSettled":1/);
    expect(log).not.toMatch(/svc_live_\w{8}|X-Amz-Signature|a quiet test/);
  });
});
