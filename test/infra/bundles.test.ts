import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sagemakerEndpointArn, startDeployed, type Deployed } from '../support/deployed.ts';
import { openImage } from '../support/png.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { small } from '../support/requests.ts';
import { sessionOf } from '../support/sessions.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { everything, synthesize, type Synthesized } from '../support/synthesized.ts';

/** Everything that is deployed, run as it would be: the bundles, with the roles and the variables of the template. */
let synthesized: Synthesized;
let service: RunningService;
let deployed: Deployed;
let session: string;
/** Of the completed generation that the first test makes. */
let requestId: string;

const maxGenerateBytes = 600_000;
const functionNames = readdirSync('functions').map((file) => file.replace(/\.ts$/, ''));

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

const key = () => service.ready.keys.pro!;
const body = (more: object = {}) => ({ ...small, identityId: service.ready.identities.aurora, ...more });

describe('POST /generate', () => {
  test('streams its prelude, eight NULs and its body, and the links open', async () => {
    const call = { key: key(), body: body(), headers: { 'idempotency-key': 'bundle-1' } };
    const { raw, status, headers, body: answer } = await deployed.call('create-generation', call);
    expect(raw!.indexOf(Buffer.alloc(8))).toBeGreaterThan(0);
    expect(status).toBe(200);
    expect(headers['x-request-id']).toBe(answer.requestId);
    await Promise.all(answer.outputs.map(openImage));
    ({ requestId } = answer);
    const again = await deployed.call('create-generation', call);
    expect(again).toMatchObject({ status: 200, body: { requestId } });
    expect(again.headers['idempotent-replayed']).toBe('true');
  });

  test('streams events to a client that asks for them', async () => {
    const call = { key: key(), body: body(), headers: { accept: 'text/event-stream' } };
    const { status, headers, text } = await deployed.call('create-generation', call);
    expect([status, headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(text.match(/^event: \w+/gm)).toEqual(
      expect.arrayContaining(['event: accepted', 'event: started', 'event: completed']),
    );
  });

  test('gives back what a failing model held, and hands out the link of an adapter', async () => {
    const { identities } = service.ready;
    const headers = { 'idempotency-key': 'bundle-2' };
    const failed = await deployed.call('create-generation', {
      key: key(),
      headers,
      body: body({ identityId: identities.flint }),
    });
    expect(failed).toMatchObject({ status: 500, body: { code: 'GENERATION_FAILED' } });
    const away = await deployed.call('create-generation', {
      key: key(),
      body: body({ identityId: identities.ember }),
    });
    expect(away).toMatchObject({ status: 503, body: { code: 'IDENTITY_UNAVAILABLE' } });
    const adapted = await deployed.call('create-generation', {
      key: key(),
      body: body({ identityId: deployed.adaptedIdentityId }),
    });
    expect(adapted.status).toBe(200);
  });

  test('has a reference image read by a role that may do nothing, and the model uses it', async () => {
    for (const caller of [{ key: key() }, { key: session, licenseId: service.ready.licenses.pro }]) {
      const { licenseId } = caller;
      const named = licenseId === undefined ? {} : { licenseId };
      const opened = await deployed.call('create-upload', { key: caller.key, body: named });
      expect(opened.status).toBe(201);
      await sendFile(opened.body, await samplePhoto());
      const { uploadId } = opened.body;
      const order = {
        identityId: service.ready.identities.citrine,
        referenceImages: [{ uploadId }],
        ...named,
      };
      const name = licenseId === undefined ? 'create-generation' : 'create-playground-generation';
      const answer = await deployed.call(name, { key: caller.key, body: body(order) });
      expect(answer).toMatchObject({ status: 200, body: { referenceImagesUsed: 1 } });
    }
    expect(deployed.asked('fetch-references')).toEqual([]);
  });

  test('refuses with a real status what is wrong', async () => {
    const refused = await deployed.call('create-generation', { key: 'svc_live_x', body: body() });
    expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
  });

  test('lets pages of the dashboard and of the configured origins read the answer, and no others', async () => {
    for (const origin of ['https://app.example.com', 'http://localhost:5173']) {
      const { headers } = await deployed.call('create-generation', { body: {}, headers: { origin } });
      expect(headers['access-control-allow-origin']).toBe(origin);
    }
    const { headers } = await deployed.call('create-generation', {
      body: {},
      headers: { origin: 'https://other.test' },
    });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('by session', () => {
  test('the playground generates, replays and gives back', async () => {
    const { licenses, identities } = service.ready;
    const order = body({ licenseId: licenses.pro });
    const call = { key: session, body: order, headers: { 'idempotency-key': 'bundle-3' } };
    const made = await deployed.call('create-playground-generation', call);
    expect(made.status).toBe(200);
    await Promise.all(made.body.outputs.map(openImage));
    expect((await deployed.call('create-playground-generation', call)).body.requestId).toBe(
      made.body.requestId,
    );
    const headers = { 'idempotency-key': 'bundle-4' };
    const adapted = { ...order, identityId: deployed.adaptedIdentityId };
    expect(
      (await deployed.call('create-playground-generation', { key: session, body: adapted })).status,
    ).toBe(200);
    const flint = { ...order, identityId: identities.flint };
    const failed = await deployed.call('create-playground-generation', {
      key: session,
      headers,
      body: flint,
    });
    expect(failed.status).toBe(500);
  });

  test('keys are created, listed and revoked', async () => {
    const order = { licenseId: service.ready.licenses.pro, name: 'bundle' };
    const made = await deployed.call('create-key', { key: session, body: order });
    expect(made.status).toBe(201);
    const listed = await deployed.call('list-keys', { key: session });
    expect(listed.body.keys.map(({ keyId }: any) => keyId)).toContain(made.body.keyId);
    const revoked = await deployed.call('revoke-key', {
      key: session,
      method: 'DELETE',
      parameters: { keyId: made.body.keyId },
    });
    expect(revoked).toMatchObject({ status: 200, body: { status: 'revoked' } });
  });

  test('licenses and usage are told', async () => {
    const { pro } = service.ready.licenses;
    const licenses = await deployed.call('list-licenses', { key: session });
    expect(licenses.body.licenses.map(({ licenseId }: any) => licenseId)).toContain(pro);
    const usage = await deployed.call('get-usage', { key: session, query: { licenseId: pro! } });
    expect(usage).toMatchObject({ status: 200, body: { licenseId: pro } });
  });
});

describe('by key and by session', () => {
  test('a stored request is fetched again, with a link that opens', async () => {
    for (const caller of [key(), session]) {
      const { status, body: stored } = await deployed.call('get-generation', {
        key: caller,
        parameters: { requestId },
      });
      expect([status, stored.status]).toEqual([200, 'COMPLETED']);
      await openImage(stored.outputUrl);
    }
  });

  test('stored requests are listed', async () => {
    const { pro } = service.ready.licenses;
    for (const call of [{ key: key() }, { key: session, query: { licenseId: pro! } }]) {
      const { status, body: list } = await deployed.call('list-generations', call);
      expect(status).toBe(200);
      const found = list.generations.find(({ id }: any) => id === requestId);
      await openImage(found.outputUrl);
    }
  });

  test('identities are listed', async () => {
    const { pro } = service.ready.licenses;
    for (const call of [{ key: key() }, { key: session }, { key: session, query: { licenseId: pro! } }]) {
      const { body: list } = await deployed.call('list-identities', call);
      expect(list.identities.map(({ name }: any) => name)).toContain('aurora');
    }
  });
});

test('health probes the model', async () => {
  expect(await deployed.call('get-health', {})).toMatchObject({
    status: 200,
    body: { status: 'ok', inference: 'up' },
  });
});

test('the sweep ends what nobody ended, and frees its idempotency key', async () => {
  await deployed.abandonGeneration();
  const { failed, returned } = await deployed.invoke('sweep', {});
  expect([failed, returned]).toEqual([undefined, null]);
  expect(deployed.logOf('sweep')).toMatch(/"LeasesReleased":1/);
});

test('an event of Stripe makes a license and changes it', async () => {
  const { returned } = await deployed.invoke('billing-events', deployed.billingEvents());
  expect(returned).toEqual({ batchItemFailures: [] });
  expect(await deployed.billedLicense()).toMatchObject({ tier: 'pro', status: 'active' });
});

describe('the roles', () => {
  test('allow everything that the functions did here', () => {
    expect(deployed.refused).toEqual([]);
  });

  test('allow nothing of the table, the bucket, the model and other functions that no function did here', () => {
    const unused = deployed.grantedButUnused();
    expect(unused).toEqual([]);
  });

  test('know the model by its own endpoint alone', () => {
    expect(sagemakerEndpointArn(synthesized.template)).toMatch(/endpoint\/image-generation-test/i);
  });
});

describe('the bundles', () => {
  test.each(['create-generation', 'create-playground-generation'])('%s stays below 600 kB', (name) => {
    expect(statSync(join(deployed.assetOf(name), 'index.js')).size).toBeLessThanOrEqual(maxGenerateBytes);
  });

  test.each(functionNames)('%s loads modules of Node.js by require, not import', (name) => {
    const code = readFileSync(join(deployed.assetOf(name), 'index.js'), 'utf8');
    expect(code).not.toMatch(/\bimport\(|\bimport\b[^;]*\bfrom"/);
    expect(code).toContain('require("node:');
  });

  test('stream exactly where the routes say so', () => {
    expect(deployed.streaming().sort()).toEqual(['create-generation', 'create-playground-generation']);
  });

  test('write no key, prompt or link to their logs, and tell what they measured', () => {
    const log = deployed.logs();
    expect(log).toMatch(/"CreditsSettled":1/);
    expect(log).not.toMatch(/svc_live_\w{8}|X-Amz-Signature|a quiet test/);
  });
});
