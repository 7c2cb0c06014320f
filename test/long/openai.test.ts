import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Generation } from '../../shared/generations/generation.ts';
import { generationPages } from '../../shared/generations/pages.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { grant, issueKey, type Granted } from '../support/grants.ts';
import { codeBlocks } from '../support/documents.ts';
import { expectCharged } from '../support/period-totals.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { samplePhoto } from '../support/uploads.ts';
import { useService } from '../support/use-service.ts';
import type { Case, Outcome } from './openai/cases.ts';
import { startLiteLlm, type LiteLlm } from './openai/litellm.ts';
import { faultsOf, runJava, runSample, runSdk, type Sdk } from './openai/run.ts';

// What docs/api/openai.md says was tried, with the packages that people install.
const service = useService();
const mark = { png: '89504e47', webp: '52494646', jpeg: 'ffd8ff' };
const startOf = (base64: string) => Buffer.from(base64, 'base64').toString('hex').slice(0, 8);

let granted: Granted;
let busy: Granted;
let failing: Granted;
let outcomes: Record<string, Outcome>;

/** What both SDKs are asked. Each has a key of its own, so that none meets another's rate limit. */
async function casesOf(): Promise<Case[]> {
  const { table } = service;
  granted = await grant(table);
  busy = await grant(table, { maxInFlight: 1 });
  failing = await grant(table);
  const spent = await grant(table, { creditsLimit: 1, used: 1 });
  const baseUrl = `${service.ready.baseUrl}/openai/v1`;
  const { ember } = service.ready.identities;
  const editing = await grant(table);
  const photo = (await samplePhoto()).toString('base64');
  const citrine = { model: 'citrine', response_format: 'b64_json' };
  const images = [{ image_url: `data:image/png;base64,${photo}` }];
  const edits: [string, Record<string, unknown>][] = [
    ['edit', { ...citrine, image: [photo], input_fidelity: 'low', n: 1 }],
    ['edit of two', { ...citrine, image: [photo, photo], n: 2 }],
    ['edit with events', { ...citrine, image: [photo], stream: true }],
    ['edit with a mask', { ...citrine, image: [photo], mask: photo }],
  ];
  const cases: (Omit<Case, 'key' | 'baseUrl'> & { of?: Granted; key?: string })[] = [
    { name: 'url', call: 'images', body: { n: 2 } },
    { name: 'b64_json', call: 'images', body: { response_format: 'b64_json', n: 2 } },
    {
      name: 'jpeg',
      call: 'images',
      body: { response_format: 'b64_json', output_format: 'jpeg', size: '576x512' },
    },
    {
      name: 'extra members',
      call: 'twice',
      body: { response_format: 'b64_json' },
      extra: { seed: 7, steps: 20, negative_prompt: 'fog', guidance_scale: 5 },
    },
    { name: 'idempotency key', call: 'twice', headers: { 'Idempotency-Key': 'order' }, body: { n: 2 } },
    { name: 'stream', call: 'stream', body: { n: 2, partial_images: 2, output_format: 'webp' } },
    { name: 'models', call: 'models' },
    { name: 'model', call: 'model', body: { model: 'aurora' } },
    { name: 'busy, not repeated', call: 'at-once', of: busy, body: { model: 'harbor' } },
    {
      name: 'busy, repeated',
      call: 'at-once',
      of: busy,
      body: { model: 'harbor', prompt: 'again' },
      maxRetries: 20,
    },
    { name: 'failed', call: 'images', of: failing, body: { model: 'flint' }, maxRetries: 5 },
    { name: 'no key', call: 'models', key: 'svc_live_x' },
    { name: 'unknown model', call: 'images', body: { model: 'nobody' } },
    { name: 'wrong size', call: 'images', body: { size: '500x512' } },
    {
      name: 'habit',
      call: 'images',
      body: { model: 'gpt-image-1', size: 'auto', quality: 'high', background: 'auto', user: 'u' },
    },
    { name: 'credits', call: 'images', of: spent, body: {}, maxRetries: 5 },
    { name: 'no active model', call: 'images', body: { model: ember } },
    ...edits.map(([name, body]) => ({ name, call: 'edit' as const, of: editing, body, extra: { seed: 7 } })),
    { name: 'edit in JSON', call: 'edit-json', of: editing, body: { ...citrine, seed: 7, images } },
    { name: 'variation', call: 'vary' },
    { name: 'chat', call: 'chat' },
  ];
  return Promise.all(
    cases.map(async ({ of = granted, key, ...one }) => ({
      ...one,
      baseUrl,
      key: key ?? (await issueKey(table, of.license)).key,
    })),
  );
}

describe.each<Sdk>(['JavaScript', 'Python'])("OpenAI's SDK for %s", (sdk) => {
  const ok = (name: string) => {
    expect(outcomes[name]).toEqual({ ok: expect.anything() });
    return outcomes[name]!.ok;
  };

  beforeAll(async () => {
    outcomes = await runSdk(sdk, await casesOf());
  });

  test('gets links that open, as many as it asked for, and the id of the record', async () => {
    const { data, size, output_format: format, requestId } = ok('url');
    expect([data.length, size, format]).toEqual([2, '512x512', 'png']);
    for (const { url } of data) expect((await fetch(url)).status).toBe(200);
    const record = await generationStore(service.table).get(granted.license.licenseId, requestId);
    expect(record).toMatchObject({ status: 'COMPLETED', numOutputs: 2, identity: { slug: 'aurora' } });
  });

  test('gets the images themselves, in each format and size', async () => {
    expect(ok('b64_json').data.map((image: any) => startOf(image.b64_json))).toEqual([mark.png, mark.png]);
    const { data, size, output_format: format } = ok('jpeg');
    expect([size, format]).toEqual(['576x512', 'jpeg']);
    expect(startOf(data[0].b64_json)).toMatch(mark.jpeg);
    const habit = ok('habit');
    expect(habit).toMatchObject({ size: '1024x1024', usage: { total_tokens: 0 } });
    const [both] = habit.data;
    expect([startOf(both.b64_json), (await fetch(both.url)).status]).toEqual([mark.png, 200]);
  });

  test('may send members of ours: the same seed is the same image', () => {
    const [first, second] = ok('extra members');
    expect(first.data).toEqual(second.data);
    expect(first.requestId).not.toBe(second.requestId);
  });

  test('may send an Idempotency-Key: the second answer is the first one, which alone was charged', async () => {
    const [first, second] = ok('idempotency key');
    expect([second.requestId, second.replayed]).toEqual([first.requestId, 'true']);
    const requests = await chargedRequests(granted);
    expect(requests.filter((id) => id === first.requestId)).toHaveLength(1);
  });

  test('streams one completed event for each image, and no partial ones', () => {
    const events = ok('stream');
    expect(events).toHaveLength(2);
    for (const event of events) {
      expect(event).toMatchObject({
        type: 'image_generation.completed',
        size: '512x512',
        output_format: 'webp',
      });
      expect(startOf(event.b64_json)).toBe(mark.webp);
      expect(event.usage.input_tokens_details.image_tokens).toBe(0);
    }
  });

  test('lists models and finds one by its slug', () => {
    const models = ok('models');
    expect(models).toContainEqual(ok('model'));
    expect(ok('model')).toMatchObject({ id: service.ready.identities.aurora, object: 'model' });
    expect(models.some(({ slug }: any) => slug === 'drift')).toBe(false);
  });

  test('repeats what was refused because too much runs, if it may: max_retries', async () => {
    expect(outcomes['busy, not repeated']!.error).toMatchObject({
      name: 'RateLimitError',
      code: 'RATE_LIMITED',
    });
    expect(ok('busy, repeated')).toHaveLength(2);
    // One of the first two, and both of the others.
    await expectCharged(service.table, busy.license, 3);
  });

  test('repeats no request that failed after it was accepted', async () => {
    expect(outcomes.failed!.error).toMatchObject({ name: 'InternalServerError', code: 'GENERATION_FAILED' });
    expect(await requestsOf(failing)).toHaveLength(1);
  });

  test.each<[string, string, number, string, string | null, string]>([
    ['no key', 'AuthenticationError', 401, 'INVALID_API_KEY', null, 'authentication_error'],
    ['unknown model', 'NotFoundError', 404, 'IDENTITY_NOT_FOUND', 'model', 'invalid_request_error'],
    ['wrong size', 'BadRequestError', 400, 'INVALID_PARAMETERS', 'size', 'invalid_request_error'],
    ['credits', 'RateLimitError', 429, 'CREDIT_LIMIT_EXCEEDED', null, 'insufficient_quota'],
    ['no active model', 'InternalServerError', 503, 'IDENTITY_UNAVAILABLE', null, 'server_error'],
  ])('throws its own exception: %s is %s', (what, name, status, code, param, type) => {
    const { message, requestId, ...error } = outcomes[what]!.error!;
    expect(error).toEqual({ name, status, code, param, type });
    expect(message).toMatch(/[a-z]+ /);
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('edits one file and several, and the same image by a data: URI in JSON; a mask is refused', () => {
    const { data } = ok('edit');
    expect(startOf(data[0].b64_json)).toBe(mark.png);
    expect(ok('edit in JSON').data).toEqual([{ b64_json: data[0].b64_json }]);
    expect(ok('edit of two').data).toHaveLength(2);
    expect(ok('edit with events')).toMatchObject([
      { type: 'image_edit.completed', b64_json: data[0].b64_json },
    ]);
    const { error } = outcomes['edit with a mask']!;
    expect(error).toMatchObject({ name: 'BadRequestError', code: 'INVALID_PARAMETERS', param: 'mask' });
  });

  test.each(['variation', 'chat'])('throws NotFoundError for what is not here: %s', (what) => {
    // The gateway's own words are not in OpenAI's shape, so the SDK finds no code in them.
    expect(outcomes[what]!.error).toMatchObject({ name: 'NotFoundError', status: 404, code: null });
  });
});

function requestsOf({ license }: Granted): Promise<Generation[]> {
  return generationPages(service.table).list(license.licenseId, 50, null);
}

async function chargedRequests(of: Granted): Promise<string[]> {
  return (await requestsOf(of))
    .filter(({ status }) => status === 'COMPLETED')
    .map(({ requestId }) => requestId);
}

describe('what OpenAI publishes', () => {
  test('its OpenAPI document allows every answer, in each form, and every refusal', async () => {
    const { key } = await grant(service.table);
    const call = async (path: string, body?: object) =>
      (await service.api({ path: `/openai/v1${path}`, key, body })).body as any;
    // A size of those that the document lists.
    const order = { model: 'aurora', prompt: 'a quiet test', size: '1024x1024' };
    const images = (more: object) => call('/images/generations', { ...order, ...more });
    const both = await images({ n: 2 });
    const { input_tokens_details: _, ...less } = both.usage;
    const faults = await faultsOf([
      ['ImagesResponse', both],
      ['ImagesResponse', await images({ response_format: 'url', output_format: 'jpeg' })],
      ['ImagesResponse', await images({ response_format: 'b64_json', output_format: 'webp' })],
      ['ImageGenStreamEvent', JSON.parse((await images({ stream: true })).split('data: ')[1])],
      ['ListModelsResponse', await call('/models')],
      ['Model', await call('/models/aurora')],
      ['ErrorResponse', await call('/models/nobody')],
      ['ErrorResponse', await images({ mask: 'x' })],
      // So that we know that it judges.
      ['ImagesResponse', { ...both, usage: less }],
    ]);
    expect(faults).toEqual(["ImagesResponse $.usage: 'input_tokens_details' is a required property"]);
  });

  test('its SDK for Java, which stops at what its types do not allow, reads every answer', async () => {
    const { key } = await grant(service.table);
    const printed = await runJava(`${service.ready.baseUrl}/openai/v1`, key);
    const forms = ['url: true false', 'b64_json: false true', 'null: true true'];
    expect(printed.trim().split('\n')).toEqual([...forms, '768x512', 'true', '404 IDENTITY_NOT_FOUND model']);
  });
});

const vercel = ['openai', 'openai-compatible', 'openai-6', 'openai-compatible-6'] as const;
test.each(vercel)("the Vercel AI SDK's @ai-sdk/%s gets images, and its own error", async (provider) => {
  const { key, license } = await grant(service.table);
  const extra = provider.includes('compatible')
    ? { output_format: 'webp', seed: 5 }
    : { outputFormat: 'webp' };
  const one = { call: 'ai', provider, key, baseUrl: `${service.ready.baseUrl}/openai/v1` } as const;
  const once = { ...one, headers: { 'Idempotency-Key': 'order' }, extra };
  const { first, again, habit, unknown } = await runSdk('JavaScript', [
    { ...once, name: 'first' },
    { ...once, name: 'again' },
    // Of these models, some ask for no form.
    { ...one, name: 'habit', body: { model: 'gpt-image-1', n: 2 } },
    { ...one, name: 'unknown', body: { model: 'nobody' } },
  ]);
  expect(first).toEqual({ ok: [{ mediaType: 'image/webp', base64: expect.any(String) }] });
  expect(startOf(first!.ok[0].base64)).toBe(mark.webp);
  expect(again).toEqual(first);
  expect(habit!.ok.map(({ base64 }: any) => startOf(base64))).toEqual([mark.png, mark.png]);
  expect(unknown!.error).toMatchObject({ name: 'APICallError', status: 404 });
  expect(unknown!.error!.message).toContain('No identity has this ID or slug');
  await expectCharged(service.table, license, 3);
});

describe('the samples of docs/api/openai.md', () => {
  const folder = temporaryFolder();
  beforeAll(async () => writeFileSync(join(folder, 'photo.jpg'), await samplePhoto({ format: 'jpeg' })));
  afterAll(() => removeFolder(folder));
  const samples = codeBlocks('docs/api/openai.md').flatMap(({ language, text }) =>
    language === 'js' || language === 'python' ? [{ language, text } as const] : [],
  );

  const withFormer = samples
    .filter(({ text }) => text.includes(" from 'ai'"))
    .map(({ language, text }) => ({
      language,
      text: text.replaceAll(/(?<=from '(@ai-sdk|ai)\b.*)'/g, "-6'"),
    }));

  test.each([...samples, ...withFormer])('work as they are shown: $language', async ({ language, text }) => {
    const { key } = await grant(service.table);
    const env = { IMAGE_BASE_URL: service.ready.baseUrl, IMAGE_API_KEY: key };
    const printed = await runSample(language, text, env, folder);
    if (printed.startsWith('http')) expect((await fetch(printed)).status).toBe(200);
    else expect(printed).toMatch(/^image\/png \d{4,}$/);
  });

  test('are two in JavaScript, one of them for two versions, and three in Python', () =>
    expect([samples.length, withFormer.length]).toEqual([5, 1]));
});

describe("LiteLLM's proxy", () => {
  let proxy: LiteLlm;
  beforeAll(async () => {
    const { key } = await grant(service.table);
    proxy = await startLiteLlm(`${service.ready.baseUrl}/openai/v1`, key);
  }, 300_000);
  afterAll(() => proxy?.close());

  test('hands requests on and answers back: links, images, members of ours, and refusals by the member', async () => {
    const one = { call: 'images', key: proxy.key, baseUrl: proxy.baseUrl } as const;
    const made = await runSdk('Python', [
      { ...one, name: 'url', body: { output_format: 'webp' } },
      { ...one, name: 'images', body: { model: 'aurora-bytes', n: 2 } },
      { ...one, name: 'seed', body: { model: 'aurora-bytes' }, extra: { seed: 4 } },
      { ...one, name: 'same seed', body: { model: 'aurora-bytes' }, extra: { seed: 4 } },
      { ...one, name: 'quality', body: { quality: 'ultra' } },
    ]);
    const link = made.url!.ok.data[0].url;
    expect([(await fetch(link)).headers.get('content-type'), made.url!.ok.size]).toEqual([
      'image/webp',
      '512x512',
    ]);
    expect(made.images!.ok.data.map((image: any) => startOf(image.b64_json))).toEqual([mark.png, mark.png]);
    expect(made.seed!.ok.data).toEqual(made['same seed']!.ok.data);
    expect(made.quality!.error).toMatchObject({ name: 'BadRequestError', status: 400, param: 'quality' });
    expect(made.quality!.error!.message).toContain('quality must be "auto", ');
  });
});
