import { beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { createGenerationBody } from '../../shared/generations/contract.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { generateLimit } from '../../shared/routes/limits.ts';
import { ask, routeOrHeader } from '../support/agent.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import { until } from '../support/until.ts';
import { useService } from '../support/use-service.ts';
import { newAccount as accountOf } from './fixture.ts';

/** One of its own: other files' tests wait for the model, and so would these. */
const service = useService();
let aurora: string;
let flint: string;

beforeAll(() => void ({ aurora, flint } = service.ready.identities as Record<'aurora' | 'flint', string>));

const newAccount = (options: Parameters<typeof accountOf>[0] = {}) => accountOf(options, service);
const order = (more: object = {}) => ({ ...small, identityId: aurora, ...more });

/** The result shows the preview of each of its images, in their order, small enough for a message. */
async function expectPreviews({ content, structuredContent: { previews } }: any): Promise<void> {
  const [text, ...shown] = content;
  expect([text.type, shown.length]).toEqual(['text', previews.length]);
  for (const [i, { type, mimeType, data }] of shown.entries()) {
    expect([type, mimeType]).toEqual(['image', 'image/webp']);
    const file = Buffer.from(data, 'base64');
    const { format, width, height } = await sharp(file).metadata();
    expect([format, Math.max(width, height) <= 512, file.length <= 60_000]).toEqual(['webp', true, true]);
    const opened = await fetch(previews[i]);
    expect(Buffer.from(await opened.arrayBuffer())).toEqual(file);
  }
}

test('tools/list has the five tools, each with schemas of objects, the arguments of POST /generate and the rule of prices', async () => {
  const { key } = await newAccount();
  const { messages } = await ask(service, { key, method: 'tools/list' });
  const { tools } = messages[0].result;
  expect(JSON.stringify(tools)).not.toMatch(routeOrHeader);
  const names = tools.map(({ name }: any) => name);
  expect(names).toEqual(['list_identities', 'quote', 'generate', 'get_generation', 'cancel']);
  for (const { name, inputSchema, outputSchema } of tools) {
    // Models' providers refuse a choice at the root of what a tool takes.
    expect([name, inputSchema.type, inputSchema.anyOf]).toEqual([name, 'object', undefined]);
    expect([inputSchema.additionalProperties, outputSchema.type]).toEqual([false, 'object']);
  }
  const members = [...Object.keys(createGenerationBody.shape), 'idempotencyKey'].sort();
  for (const { inputSchema } of tools.slice(1, 3)) {
    expect(Object.keys(inputSchema.properties).sort()).toEqual(members);
    expect(inputSchema.required.sort()).toEqual(['identityId', 'prompt']);
  }
  const [, , { description }] = tools;
  expect(description).toContain('numOutputs × ceil(width × height / 1,048,576)');
  expect(description).toContain('one for each image of up to 1024 × 1024 pixels, four at 2048 × 2048');
});

test('list_identities answers what GET /identities does, without links to samples', async () => {
  const identityIds = [service.ready.identities.harbor!];
  const { byKey, tool } = await newAccount({ foundingCatalog: false, identityIds });
  const { structuredContent, content } = await tool('list_identities');
  const { body } = await byKey('/identities');
  const facts = body.identities.map(({ samples: _links, ...others }: any) => others);
  expect(structuredContent).toEqual({ identities: facts });
  expect(facts.map(({ id }: any) => id)).toEqual(identityIds);
  expect(content.map(({ text }: any) => JSON.parse(text))).toEqual([structuredContent]);
});

test('quote answers what a dry run does, and stores and charges nothing', async () => {
  const { byKey, tool, expectCharged } = await newAccount();
  const body = order({ numOutputs: 3 });
  const { structuredContent } = await tool('quote', body);
  expect(structuredContent).toEqual((await byKey('/generate?dryRun=true', { body })).body);
  expect(structuredContent).toMatchObject({ dryRun: true, credits: 3 });
  await expectCharged(0);
});

describe('generate', () => {
  test('charges, stores and answers as POST /generate does, and get_generation finds it', async () => {
    const { tool, stored, expectCharged } = await newAccount();
    const result = await tool('generate', order({ numOutputs: 4, seed: 7 }));
    const { requestId, outputs, usage } = result.structuredContent;
    expect(result.structuredContent).toMatchObject({ seed: 7, identity: { id: aurora } });
    expect([outputs.length, usage.creditsCharged]).toEqual([4, 4]);
    await expectPreviews(result);
    await expectCharged(4);
    const got = await tool('get_generation', { requestId: requestId.toUpperCase() });
    await expectPreviews(got);
    // Links are signed anew.
    const { outputs: links, outputUrl, previews, ...rest } = got.structuredContent;
    expect(previews).toHaveLength(4);
    expect(await stored(requestId)).toMatchObject({ ...rest, status: 'COMPLETED', creditsCharged: 4 });
    await Promise.all([...outputs, ...links, outputUrl].map(openImage));
  });

  test('notifies a caller who asks of its progress, in numbers that rise, before the result', async () => {
    const { key } = await newAccount();
    const params = { name: 'generate', arguments: order(), _meta: { progressToken: 'mine' } };
    const { headers, messages } = await ask(service, { key, method: 'tools/call', params });
    expect(headers.get('content-type')).toBe('text/event-stream');
    const notes = messages.slice(0, -1).map(({ method, params: note }) => {
      expect([method, note.progressToken]).toEqual(['notifications/progress', 'mine']);
      return note;
    });
    const { structuredContent } = messages.at(-1).result;
    expect(notes[0].message).toContain(structuredContent.requestId);
    const numbers = notes.map(({ progress }) => progress);
    expect(numbers).toEqual([...new Set<number>(numbers)].toSorted((one, other) => one - other));
    for (const { progress, total } of notes) expect(progress).toBeLessThanOrEqual(total ?? progress);
    expect(notes.at(-1).message).toBe(`Step ${small.numInferenceSteps} of ${small.numInferenceSteps}.`);
  });

  test('is charged once for an idempotencyKey, whatever the order of its arguments and however many at once', async () => {
    const { tool, expectCharged } = await newAccount();
    const sent = order({ idempotencyKey: 'once' });
    const reversed = Object.fromEntries(Object.entries(sent).toReversed());
    const results = await Promise.all([sent, reversed, sent, reversed].map((one) => tool('generate', one)));
    const [refused, made] = [true, undefined].map((is) => results.filter(({ isError }) => isError === is));
    for (const { structuredContent } of refused!)
      expect(structuredContent.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(made!.length).toBeGreaterThan(0);
    const again = await tool('generate', reversed);
    const ids = new Set([...made!, again].map(({ structuredContent }) => structuredContent.requestId));
    expect(ids.size).toBe(1);
    await expectCharged(1);
    expect((await tool('quote', sent)).structuredContent.credits).toBe(0);
    const other = await tool('generate', { ...sent, prompt: 'another' });
    expect(other.structuredContent).toMatchObject({
      code: 'IDEMPOTENCY_MISMATCH',
      error: expect.stringMatching(/^This idempotencyKey was used with another set of arguments\./),
    });
  });
});

test('cancel ends what runs, uncharged, as often as it is called, and nothing that has ended otherwise', async () => {
  const { byKey, tool, expectCharged } = await newAccount();
  const running = tool('generate', order({ identityId: service.ready.identities.harbor }));
  let open: any;
  const isOpen = async () => ([open] = (await byKey('/generate')).body.generations).length > 0;
  await until('it is accepted', isOpen, 60_000, 300);
  for (const _ of ['first', 'again']) {
    const { content, structuredContent } = await tool('cancel', { requestId: open.id });
    expect(structuredContent).toMatchObject({ id: open.id, status: 'FAILED', errorCode: 'CANCELLED' });
    expect(content).toHaveLength(1);
  }
  const { isError, structuredContent } = await running;
  expect([isError, structuredContent]).toMatchObject([true, { code: 'CANCELLED', requestId: open.id }]);
  await expectCharged(0);
  const { requestId } = (await tool('generate', order())).structuredContent;
  for (const [id, code] of [
    [requestId, 'REQUEST_FINAL'],
    [crypto.randomUUID(), 'REQUEST_NOT_FOUND'],
  ])
    expect((await tool('cancel', { requestId: id })).structuredContent.code).toBe(code);
  await expectCharged(1);
});

describe('a refusal is the tool’s error', () => {
  test.each<[string, () => object]>([
    ['an unknown identity', () => ({ identityId: 'idn_nobody' })],
    ['wrong members', () => ({ prompt: '', width: 1, stpes: 3 })],
    ['too dear', () => ({ numOutputs: 4 })],
    ['a failing model', () => ({ identityId: flint })],
  ])('in its own words, with the code of POST /generate: %s', async (_, changed) => {
    const { generate, tool, expectCharged } = await newAccount({ creditsLimit: 3 });
    const plain = await generate(changed());
    const { isError, structuredContent, content } = await tool('generate', order(changed()));
    const { error, code, retryAfterSeconds = 0 } = structuredContent;
    const said = plain.body.error.replace('GET /identities', 'list_identities');
    expect([isError, error, code]).toEqual([true, said, plain.body.code]);
    const wait = Number(plain.headers.get('retry-after'));
    // Seconds pass between the two where it is the time that a period has left.
    expect(Math.abs(retryAfterSeconds - wait)).toBeLessThanOrEqual(5);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
    await expectCharged(0);
  });

  test.each<[string, () => object, RegExp]>([
    ['generate', () => order({ idempotencyKey: 'two words' }), /^idempotencyKey must be/],
    ['generate', () => order({ idempotencyKey: 7 }), /^idempotencyKey must be/],
    ['list_identities', () => ({ page: 2 }), /unknown member "page"/],
    ['get_generation', () => ({}), /requestId/],
  ])('names the argument of %s that is wrong', async (name, sent, sentence) => {
    const { structuredContent } = await (await newAccount()).tool(name, sent());
    const error = expect.stringMatching(sentence);
    expect(structuredContent).toMatchObject({ code: 'INVALID_PARAMETERS', error });
  });

  test('generate and quote count with POST /generate, and none of them is let through beyond its limit', async () => {
    const { generate, keyId, tool } = await newAccount();
    const { quota, name: limit } = generateLimit;
    await rateLogStore(service.table).put(keyId, limit, Array(quota - 3).fill(Date.now()), 0);
    const bad = { identityId: 'idn_nobody' };
    const codeOf = async (name: string) => (await tool(name, bad)).structuredContent.code;
    const codes = [(await generate(bad)).body.code, await codeOf('quote'), await codeOf('generate')];
    expect(codes).toEqual(codes.map(() => 'IDENTITY_NOT_FOUND'));
    for (const name of ['quote', 'generate']) {
      const { isError, structuredContent } = await tool(name, order());
      expect([isError, structuredContent.code]).toEqual([true, 'RATE_LIMITED']);
      expect(structuredContent.retryAfterSeconds).toBeGreaterThan(0);
    }
    expect((await tool('list_identities')).isError).toBeUndefined();
  });
});
