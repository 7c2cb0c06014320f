import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newDeletion } from '../../shared/generations/deletion.ts';
import type { Generation } from '../../shared/generations/generation.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { deletionStore } from '../../shared/generations/deletion-store.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { headersOf, messageOf, messagesIn } from '../support/agent.ts';
import { everything } from '../support/configurations.ts';
import type { DeployedCall } from '../support/deployed-calls.ts';
import { startDeployed, type Deployed } from '../support/deployed.ts';
import { bundleFunctions } from '../support/function-bundles.ts';
import { issueKey, tableOf } from '../support/grants.ts';
import { startLambda } from '../support/lambda-process.ts';
import { allObjects } from '../support/objects.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { openImage } from '../support/png.ts';
import { queueEvent } from '../support/queue-event.ts';
import { inRepository } from '../support/repository.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { synthesize, type Synthesized } from '../support/synthesized.ts';
import { tableRequestsPath } from '../support/table-requests.ts';
import { dataUri, samplePhoto, sendFile } from '../support/uploads.ts';

/** The bundles run as they would on AWS: with the roles and the variables of the template. */
let synthesized: Synthesized;
let service: RunningService;
let deployed: Deployed;
let session: string;
/** Of the completed generation that the first test makes. */
let completedId: string;

const maxGenerateBytes = 600_000;
/** Of every function's code, which a cold start reads: bytes minified, and then gzipped. */
const bundleSizesPath = inRepository('test/infra/bundle-sizes.txt');
const functionNames = readdirSync('functions').map((file) => file.replace(/\.ts$/, ''));
const generate = 'create-generation';
const playground = 'create-playground-generation';
const openAiGenerate = 'create-openai-image';
const openAiEdit = 'edit-openai-image';
const agent = 'answer-agent';

function sizesOf(file: string): [bytes: number, gzipBytes: number] {
  const code = readFileSync(file);
  return [code.length, gzipSync(code).length];
}

beforeAll(async () => {
  synthesized = synthesize(everything);
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
const copies = () => allObjects(service.dataDir).filter(({ key }) => key.startsWith('references/'));

describe('POST /generate', () => {
  test('streams its prelude, eight NULs and its body, the presigned URLs work, and it is replayed', async () => {
    const request = byKey({ body: body(), headers: { 'idempotency-key': 'bundle-1' } });
    const { raw, status, headers, body: answer } = await call(generate, request);
    expect(raw!.indexOf(Buffer.alloc(8))).toBeGreaterThan(0);
    expect(status).toBe(200);
    expect(headers['x-request-id']).toBe(answer.requestId);
    await Promise.all(answer.outputs.map(openImage));
    completedId = answer.requestId;
    const again = await call(generate, request);
    expect(again).toMatchObject({ status: 200, body: { requestId: completedId } });
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

  test('refuses with a real status', async () => {
    const refused = await call(generate, { key: 'svc_live_x', body: body() });
    expect(refused).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
    const unavailable = await call(
      generate,
      byKey({ body: body({ identityId: service.ready.identities.ember }) }),
    );
    expect(unavailable).toMatchObject({ status: 503, body: { code: 'IDENTITY_UNAVAILABLE' } });
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

/** Generates, and returns what was answered: the request or its error. */
type Ask = (more: object, idempotencyKey?: string) => Promise<any>;

const byRoute =
  (name: string, caller: () => DeployedCall, named = (): object => ({})): Ask =>
  async (more, idempotencyKey) => {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return (await call(name, { ...caller(), headers, body: body({ ...named(), ...more }) })).body;
  };
const byTool: Ask = async (more, idempotencyKey) =>
  (await tool('generate', { ...body(), ...(idempotencyKey && { idempotencyKey }), ...more }))
    .structuredContent;

/** Calls a tool of POST /mcp. */
async function tool(name: string, sent: object, _meta = {}): Promise<any> {
  const asked = { method: 'tools/call', params: { name, arguments: sent, _meta } };
  const answer = await call(agent, { ...byStandardKey(), body: messageOf(asked), headers: headersOf(asked) });
  expect(answer.status).toBe(200);
  return messagesIn(answer.body ?? answer.text).at(-1).result;
}

// Others than most tests have, whose rate limit would be used up.
const byStandardKey = () => ({ key: service.ready.keys.standard! });
const byStarterKey = () => ({ key: service.ready.keys.starter! });
const ofLicense = () => ({ licenseId: licenseId() });

describe.each<[name: string, ask: Ask, caller: () => DeployedCall, named: () => object]>([
  [generate, byRoute(generate, byStarterKey), byStarterKey, () => ({})],
  [playground, byRoute(playground, bySession, ofLicense), bySession, ofLicense],
  [agent, byTool, byStandardKey, () => ({})],
])('%s', (name, ask, caller, named) => {
  test('generates, also with an adapter, and replays', async () => {
    const made = await ask({}, name);
    await Promise.all(made.outputs.map(openImage));
    expect((await ask({}, name)).requestId).toBe(made.requestId);
    expect((await ask({ identityId: deployed.adaptedIdentityId })).outputs).toHaveLength(1);
  });

  test('gives back the credits and the idempotency key of what failed', async () => {
    const failing = { identityId: service.ready.identities.flint };
    for (const _ of [1, 2]) {
      expect(await ask(failing, `${name}-failing`)).toMatchObject({ code: 'GENERATION_FAILED' });
    }
  });

  test('uses a reference image, which a role reads that may do nothing, and leaves none', async () => {
    const { status, body: upload } = await call('create-upload', { ...caller(), body: named() });
    expect(status).toBe(201);
    await sendFile(upload, await samplePhoto());
    const identityId = service.ready.identities.citrine;
    const byUpload = { identityId, referenceImages: [{ uploadId: upload.uploadId }] };
    expect(await ask(byUpload)).toMatchObject({ referenceImagesUsed: 1 });
    const byLink = { identityId, referenceImages: [{ url: 'https://nobody.invalid/a.png' }] };
    expect(await ask(byLink)).toMatchObject({ code: 'INVALID_PARAMETERS' });
    expect(deployed.asked('fetch-references')).toEqual([]);
    expect(copies()).toEqual([]);
  });
});

describe('with Prefer: respond-async', () => {
  const headers = { prefer: 'respond-async' };
  /** What the worker is sent of a request that nobody ended. */
  async function abandoned() {
    const { licenseId: ofOther, requestId } = await deployed.abandonGeneration();
    return { licenseId: ofOther, requestId };
  }

  test('a request is enqueued, and the worker generates it: with references, and with an adapter', async () => {
    const { citrine } = service.ready.identities;
    const { body: upload } = await call('create-upload', byKey({ body: {} }));
    await sendFile(upload, await samplePhoto());
    const referenceImages = [{ uploadId: upload.uploadId }];
    const adapted = { licenseId: service.ready.licenses.pro!, identityId: deployed.adaptedIdentityId };
    const answers = [
      await call(generate, byKey({ headers, body: body({ identityId: citrine, referenceImages }) })),
      await call(playground, { key: session, headers, body: body(adapted) }),
    ];
    await deployed.idle();
    for (const { status, headers: sent, body: accepted } of answers) {
      expect([status, accepted.status]).toEqual([202, 'QUEUED']);
      expect(sent.location).toBe(`/api/v1/generate/${accepted.requestId}`);
      const { body: stored } = await call(
        'get-generation',
        byKey({ parameters: { requestId: accepted.requestId } }),
      );
      expect(stored.status).toBe('COMPLETED');
      await openImage(stored.outputUrl);
    }
    expect(copies()).toEqual([]);
  });

  test('one that fails gives its credits and its idempotency key back', async () => {
    const failing = body({ identityId: service.ready.identities.flint });
    const key = service.ready.keys.starter!;
    const request = { key, headers: { ...headers, 'idempotency-key': 'bundle-5' }, body: failing };
    for (const _ of [1, 2]) {
      expect((await call(generate, request)).status).toBe(202);
      await deployed.idle();
    }
    expect(deployed.logOf('run-generation')).toMatch(/"CreditsReleased":1/);
  });

  test('one whose run failed is released, with its references and its idempotency key', async () => {
    const event = queueEvent(await abandoned(), 1000);
    for (const _ of [1, 2]) {
      const { failed } = await deployed.invoke('release-generation', event);
      expect(failed).toBeUndefined();
    }
    expect(deployed.logOf('release-generation')).toMatch(
      /"released":true.*"CreditsReleased":1[^]*"released":false/,
    );
  });

  test('one that the worker gets too late is released by the worker', async () => {
    const { returned } = await deployed.invoke('run-generation', queueEvent(await abandoned()));
    expect(returned).toEqual({ batchItemFailures: [] });
    expect(deployed.logOf('run-generation')).toMatch(/"outcome":"TIMEOUT"/);
  });

  test('whatever else the two are sent, they do nothing', async () => {
    for (const name of ['run-generation', 'release-generation']) {
      const asked = deployed.asked(name).length;
      for (const message of ['', 'x', '7', 'null', '[]', { licenseId: '../x', requestId: 'GEN#' }])
        expect((await deployed.invoke(name, queueEvent(message))).failed).toBeUndefined();
      expect(deployed.logOf(name)).toContain('not a request to run');
      for (const event of [null, 7, 'x', [], {}, { Records: [] }])
        expect((await deployed.invoke(name, event)).failed).toBeDefined();
      expect(deployed.asked(name).length).toBe(asked);
    }
  });
});

test('POST /mcp lists, generates with progress, fetches what it made, and cancels', async () => {
  const { structuredContent: list } = await tool('list_identities', {});
  expect(list.identities.map(({ name }: any) => name)).toContain('aurora');
  const { structuredContent: made } = await tool('generate', body(), { progressToken: 1 });
  const { structuredContent: stored } = await tool('get_generation', { requestId: made.requestId });
  expect(stored.status).toBe('COMPLETED');
  const table = tableOf(service.dataDir);
  const { licenses, identities } = service.ready;
  const license = (await licenseStore(table).get(licenses.standard!))!;
  const open = await reserveAbandoned(table, license, { identityId: identities.aurora!, referenceImages: 1 });
  const { requestId } = open;
  const { structuredContent: cancelled } = await tool('cancel', { requestId });
  expect(cancelled).toMatchObject({ id: requestId, errorCode: 'CANCELLED' });
  const told = allObjects(service.dataDir).map(({ key }) => key);
  expect(told).toContain(`cancelled/${license.licenseId}/${requestId}`);
});

describe("in OpenAI's API format", () => {
  const ask = (name: string, options: DeployedCall) =>
    call(name, { key: service.ready.keys.enterprise!, ...options });
  const usual = { model: 'aurora', prompt: 'a quiet test', size: '512x512', steps: 20 };
  const image = (more: object = {}) => ({ ...usual, ...more });

  test('images are made by slug, by link and in the answer, and replayed', async () => {
    const { status, body: linked } = await ask(openAiGenerate, { body: image() });
    expect(status).toBe(200);
    await openImage(linked.data[0].url);
    const request = {
      body: image({ response_format: 'b64_json' }),
      headers: { 'idempotency-key': 'bundle-7' },
    };
    const made = await ask(openAiGenerate, request);
    expect(Buffer.from(made.body.data[0].b64_json, 'base64').subarray(1, 4).toString()).toBe('PNG');
    const again = await ask(openAiGenerate, request);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body).toEqual(made.body);
    const adapted = await ask(openAiGenerate, { body: image({ model: deployed.adaptedIdentityId }) });
    expect(adapted.status).toBe(200);
  });

  test('a failed request frees its idempotency key, and is an error of theirs with our status and code', async () => {
    const headers = { 'idempotency-key': 'bundle-8' };
    const failed = await ask(openAiGenerate, { headers, body: image({ model: 'flint' }) });
    expect(failed).toMatchObject({ status: 500, body: { error: { code: 'GENERATION_FAILED' } } });
    const refused = await ask(openAiGenerate, { key: 'svc_live_x', body: image() });
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'INVALID_API_KEY' } } });
  });

  test('an edit is made of the images that it names, with an adapter too, replayed, and leaves no copy of them', async () => {
    const table = tableOf(service.dataDir);
    const license = (await licenseStore(table).get(service.ready.licenses.enterprise!))!;
    const { key } = await issueKey(table, license);
    const photo = await samplePhoto();
    const edit = (url: string, more: object = {}) => {
      const images = [{ image_url: url }];
      const headers = { 'idempotency-key': url.slice(-20).replaceAll('=', '') };
      return call(openAiEdit, { key, headers, body: { ...image(), model: 'citrine', images, ...more } });
    };
    const [made, again] = [await edit(dataUri(photo)), await edit(dataUri(photo))];
    // Its links are signed anew.
    const imageOf = ({ body: { data } }: { body: any }): string => data[0].b64_json;
    expect([made.status, imageOf(again) === imageOf(made)]).toEqual([200, true]);
    expect(again.headers['idempotent-replayed']).toBe('true');
    await openImage(made.body.data[0].url);
    const adapted = await edit(dataUri(await samplePhoto({ color: '#204080' })), {
      model: deployed.adaptedIdentityId,
    });
    expect(adapted.status).toBe(200);
    const broken = dataUri(Buffer.from(photo).fill(0x55, 60));
    for (const url of [broken, broken, 'https://nobody.invalid/a.png'])
      expect(await edit(url)).toMatchObject({ status: 400, body: { error: { param: 'images' } } });
    expect(copies()).toEqual([]);
  });

  test('a later try of a program has the result of the one before, or takes its place', async () => {
    const { key } = await issueKey(
      tableOf(service.dataDir),
      (await licenseStore(tableOf(service.dataDir)).get(service.ready.licenses.enterprise!))!,
    );
    const images = [{ image_url: dataUri(await samplePhoto({ color: '#802040' })) }];
    for (const [name, order] of [
      [openAiGenerate, image({ prompt: 'a try' })],
      [openAiEdit, { ...image({ prompt: 'a try' }), model: 'citrine', images }],
    ] as const) {
      const send = (count: number, more: object = {}) =>
        call(name, { key, body: { ...order, ...more }, headers: { 'x-stainless-retry-count': `${count}` } });
      const [first, second] = [await send(0), await send(1)];
      expect([first.status, second.headers['idempotent-replayed']]).toEqual([200, 'true']);
    }
  });

  test('models are listed, found by id and by slug, and looked for in the whole catalog', async () => {
    const { body: list } = await ask('list-openai-models', {});
    const { aurora } = service.ready.identities;
    const model = list.data.find(({ id }: any) => id === aurora);
    for (const name of ['aurora', aurora!]) {
      const found = await ask('get-openai-model', { parameters: { model: name } });
      expect(found).toMatchObject({ status: 200, body: model });
    }
    const unknownModel = image({ model: 'nobody' });
    const images = [{ image_url: dataUri(await samplePhoto({ color: '#802040' })) }];
    for (const unknown of [
      await ask('get-openai-model', { parameters: { model: 'nobody' } }),
      await ask(generate, { body: { identityId: 'nobody', prompt: 'x' } }),
      await ask(openAiGenerate, { body: unknownModel }),
      await ask(openAiEdit, { body: { ...unknownModel, images } }),
    ])
      expect(unknown.status).toBe(404);
  });
});

test('a request is cancelled, by key and by session, also once another period counts what is in flight', async () => {
  const table = tableOf(service.dataDir);
  const license = (await licenseStore(table).get(licenseId()))!;
  const options = { identityId: service.ready.identities.aurora!, referenceImages: 1 };
  const late = await deployed.abandonGeneration();
  const ofLate = await issueKey(table, (await licenseStore(table).get(late.licenseId))!);
  for (const [caller, of] of [
    [byKey(), await reserveAbandoned(table, license, options)],
    [bySession(), await reserveAbandoned(table, license, options)],
    [{ key: ofLate.key }, late],
  ] as const) {
    const { requestId } = of;
    const sent = { ...caller, method: 'POST', parameters: { requestId } };
    const cancelled = await call('cancel-generation', sent);
    expect(cancelled).toMatchObject({ status: 200, body: { status: 'FAILED', errorCode: 'CANCELLED' } });
    const flag = `cancelled/${of.licenseId}/${requestId}`;
    expect(allObjects(service.dataDir).map(({ key }) => key)).toContain(flag);
  }
  expect(deployed.logOf('cancel-generation')).not.toContain('"level":"ERROR"');
});

describe('deletions', () => {
  const tenMinutesMs = 600_000;

  /** A request that failed, accepted some time ago. */
  async function failedRequest(agoMs: number): Promise<Generation> {
    const { licenses, identities } = service.ready;
    const table = tableOf(service.dataDir);
    const license = (await licenseStore(table).get(licenses.pro!))!;
    const options = { identityId: identities.aurora!, acceptedAtMs: Date.now() - agoMs, referenceImages: 1 };
    const failure = { status: 'FAILED', errorCode: 'GENERATION_FAILED', errorMessage: '' } as const;
    return generationStore(table).release(
      await reserveAbandoned(table, license, options),
      failure,
      Date.now(),
    );
  }

  test('a request is deleted with its images, by key and by session, and is not found again', async () => {
    for (const key of [service.ready.keys.pro!, session]) {
      const made = await call(playground, bySession({ body: body(ofLicense()) }));
      const { requestId: old } = await failedRequest(tenMinutesMs);
      for (const requestId of [made.body.requestId, old]) {
        const options = { key, method: 'DELETE', parameters: { requestId } };
        const deleted = await call('delete-generation', options);
        expect(deleted).toMatchObject({ status: 200, body: { requestId, deleted: true } });
        const again = await call('delete-generation', options);
        expect(again).toMatchObject({ status: 404, body: { code: 'REQUEST_NOT_FOUND' } });
        const left = allObjects(service.dataDir).filter((object) => object.key.includes(requestId));
        expect(left.map((object) => object.key)).toEqual([
          `erased/${service.ready.licenses.pro}/${requestId}`,
        ]);
      }
    }
  });

  test('the sweep goes on with deletions whose function died', async () => {
    const deletions = deletionStore(tableOf(service.dataDir));
    for (const agoMs of [tenMinutesMs, 0]) await deletions.begin(newDeletion(await failedRequest(agoMs)), 0);
    const { failed } = await deployed.invoke('sweep', {});
    expect(failed).toBeUndefined();
    expect(deployed.logOf('sweep')).toMatch(/"erased":1/);
  });
});

test('every function that takes a key may count whom it refuses', async () => {
  const parameters = { requestId: 'x', model: 'nobody' };
  const refused = { key: service.ready.keys.pro!, query: { nobody: 'x' }, parameters, body: {} };
  for (const { functionName, auth } of Object.values(routes) as Route[]) {
    if (auth !== 'key' && auth !== 'key_or_session') continue;
    const { status } = await call(functionName, refused);
    expect([functionName, Math.floor(status / 100)]).toEqual([functionName, 4]);
  }
  expect(deployed.logs()).not.toContain('refusal not counted');
});

describe('by session', () => {
  test('keys are created, listed, changed and revoked, and the audit log says so', async () => {
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
    const { requests } = (await call('list-refused-requests', options)).body;
    expect(requests[0]).toMatchObject({ keyName: expect.any(String), status: 400 });
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
  const callers = () => [byKey(), bySession({ query: ofLicense() })];

  test('a stored request is answered again, with a presigned URL that works', async () => {
    for (const caller of [byKey(), bySession()]) {
      const { body: stored } = await call('get-generation', {
        ...caller,
        parameters: { requestId: completedId },
      });
      expect(stored.status).toBe('COMPLETED');
      await openImage(stored.outputUrl);
    }
  });

  test('stored requests are listed', async () => {
    for (const options of callers()) {
      const { body: list } = await call('list-generations', options);
      await openImage(list.generations.find(({ id }: any) => id === completedId).outputUrl);
      const ofIdentity = async (identityId: string) =>
        (await call('list-generations', { ...options, query: { ...options.query, identityId } })).body;
      expect((await ofIdentity('aurora')).generations).not.toEqual([]);
      expect((await ofIdentity('nobody')).generations).toEqual([]);
    }
  });

  test('identities are listed, and found by slug', async () => {
    for (const options of [...callers(), bySession()]) {
      const { body: list } = await call('list-identities', options);
      expect(list.identities.map(({ name }: any) => name)).toContain('aurora');
      const { samples } = list.identities.find(({ name }: any) => name === 'adapted');
      expect(samples[0].thumbnailUrl).toContain('/samples/');
      const { body: one } = await call('get-identity', { ...options, parameters: { identityId: 'adapted' } });
      expect(one).toMatchObject({
        name: 'adapted',
        samples: [{ width: 512 }],
        versions: [{ version: 1, active: true }],
      });
    }
  });
});

test('a key is told what it may still do', async () => {
  const { status, body: allowance } = await call('get-key', byKey());
  expect([status, allowance.license.licenseId]).toEqual([200, licenseId()]);
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

test('the e-mails about used credits find what waits, and remove what nobody is to be notified of', async () => {
  const isDropped = () => /"dropped":1,"failed":0,"lost":0/.test(deployed.logOf('send-notices'));
  // The local service shares the table, sends each minute too, and may be quicker.
  for (let tries = 1; tries <= 3 && !isDropped(); tries++) {
    await deployed.leaveNotification();
    const { failed, returned } = await deployed.invoke('send-notices', {});
    expect([failed, returned]).toEqual([undefined, null]);
  }
  expect(isDropped()).toBe(true);
});

test('an account reads its settings and changes them', async () => {
  const change = await call('update-account', bySession({ body: { creditMails: false } }));
  expect(change).toMatchObject({ status: 200, body: { creditMails: false } });
  expect(await call('get-account', bySession())).toMatchObject({
    status: 200,
    body: { creditMails: false },
  });
});

test("Stripe's events create a license and change it", async () => {
  const { returned } = await deployed.invoke('billing-events', deployed.billingEvents());
  expect(returned).toEqual({ batchItemFailures: [] });
  expect(await deployed.billedLicense()).toMatchObject({ tier: 'pro', status: 'active' });
});

test('sessions end where Cognito ended them', async () => {
  const ended = {
    eventName: 'GlobalSignOut',
    eventTime: '2026-11-27T18:00:00Z',
    additionalEventData: { sub: 'nobody' },
  };
  expect((await deployed.invoke('end-sessions', { detail: ended })).returned).toBeNull();
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
    // or 100% leaves a notification. Who lists identities signs by itself only where the role that all share can't be had.
    // The playground's ten calls a minute leave none for a name that is nobody's: it looks as POST /generate does.
    // The painter looks for a cancellation after a second, when it has mostly ended. The one notification here is dropped, so it
    // names no keys. It refuses nothing for what it shows, so the worker counts no refusal.
    const rare =
      /^create-playground-generation: dynamodb:Query on .* keys CATALOG\*$|:PutItem on .* keys (LINKS|NOTICES)\*$|^send-notices: .* keys KEY#|^(list-identities|get-identity): s3:GetObject on .*\/samples\/\*|: s3:GetObject on .*\/cancelled\/\*|^run-generation: .* keys REFUSED#/;
    const others = deployed.grantedButUnused().filter((what) => !rare.test(what));
    expect(others).toEqual([]);
  });
});

describe('the bundles', () => {
  const fileOf = (name: string) => join(deployed.assetOf(name), 'index.js');

  test.each([generate, playground, openAiGenerate, openAiEdit])('%s has at most 600,000 bytes', (name) => {
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

  const sourcesOf = (file: string): string[] => JSON.parse(readFileSync(`${file}.map`, 'utf8')).sources;

  test('of a deployment that checks no prompts are without the check', () => {
    const folder = temporaryFolder();
    const [{ file } = { file: '' }] = bundleFunctions(folder, [generate]);
    const checks = (path: string) => sourcesOf(path).filter((source) => source.endsWith('/prompt-check.ts'));
    expect([checks(fileOf(generate)).length, checks(file)]).toEqual([2, []]);
    removeFolder(folder);
  });

  test.each(functionNames)('%s holds one copy of each package', (name) => {
    const sources = sourcesOf(fileOf(name));
    const folders = sources.flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
    const packages = [...new Set(folders)].map((folder) => folder.split('node_modules/').at(-1)!);
    expect(packages.length).toBeGreaterThan(0);
    expect(packages.filter((one, i) => packages.indexOf(one) < i)).toEqual([]);
  });

  test('load modules of Node.js by require, not import', () => {
    for (const name of functionNames) {
      const code = readFileSync(fileOf(name), 'utf8');
      const imports = /\bimport\(|\bimport\b[^;]*\bfrom"/.test(code);
      expect({ name, imports, requires: code.includes('require("node:') }).toEqual({
        name,
        imports: false,
        requires: true,
      });
    }
  });

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
    const streaming = [agent, generate, openAiGenerate, openAiEdit, playground];
    expect(deployed.streaming().toSorted()).toEqual(streaming.toSorted());
  });

  test('write no key, prompt or presigned URL to their logs, but what they measured', () => {
    const log = deployed.logs();
    expect(log).toMatch(/"CreditsSettled":1/);
    expect(log).not.toMatch(/svc_live_\w{8}|X-Amz-Signature|a quiet test/);
  });
});
