import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { createGenerationBody } from '../../shared/generations/contract.ts';
import { rateLogStore } from '../../shared/limits/rate-log-store.ts';
import { generateLimit } from '../../shared/routes/limits.ts';
import { ask, callTool, routeOrHeader } from '../support/agent.ts';
import { grant } from '../support/grants.ts';
import { expectCharged, periodTotals } from '../support/period-totals.ts';
import { openImage } from '../support/png.ts';
import { generate, small, stored } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

/** One of its own: other files' tests tell who waits for the model. */
const service = useService();
const identity = (name: string) => service.ready.identities[name]!;

const call = (key: string, name: string, sent: object = {}) => callTool(service, key, name, sent);
const order = (more: object = {}) => ({ ...small, identityId: identity('aurora'), ...more });

/** The result shows the preview of its first image, small enough for a message. */
async function expectPreview({ content, structuredContent }: any): Promise<void> {
  expect(content.map(({ type }: any) => type)).toEqual(['text', 'image']);
  expect(content[1].mimeType).toBe('image/webp');
  const shown = Buffer.from(content[1].data, 'base64');
  const { format, width, height } = await sharp(shown).metadata();
  expect([format, Math.max(width, height) <= 512, shown.length <= 60_000]).toEqual(['webp', true, true]);
  const opened = await fetch(structuredContent.previews[0]);
  expect(Buffer.from(await opened.arrayBuffer())).toEqual(shown);
}

describe('tools/list', () => {
  test('has the four tools, each with schemas of objects, the arguments of POST /generate and the rule of prices', async () => {
    const { key } = await grant(service.table);
    const { status, messages } = await ask(service, { key, method: 'tools/list' });
    const { tools } = messages[0].result;
    expect(JSON.stringify(tools)).not.toMatch(routeOrHeader);
    expect([status, tools.map(({ name }: any) => name)]).toEqual([
      200,
      ['list_identities', 'quote', 'generate', 'get_generation'],
    ]);
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
});

test('list_identities answers what GET /identities does, without links to samples', async () => {
  const { key } = await grant(service.table, { foundingCatalog: false, identityIds: [identity('harbor')] });
  const { structuredContent, content } = await call(key, 'list_identities');
  const { body } = await service.api({ path: '/identities', key });
  const facts = body.identities.map(({ samples: _links, ...others }: any) => others);
  expect(structuredContent).toEqual({ identities: facts });
  expect(structuredContent.identities.map(({ id }: any) => id)).toEqual([identity('harbor')]);
  expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  expect(content).toHaveLength(1);
});

test('quote answers what a dry run does, and stores and charges nothing', async () => {
  const { key, license } = await grant(service.table);
  const { structuredContent } = await call(key, 'quote', order({ numOutputs: 3 }));
  const dryRun = await service.api({ path: '/generate?dryRun=true', key, body: order({ numOutputs: 3 }) });
  expect(structuredContent).toEqual(dryRun.body);
  expect(structuredContent).toMatchObject({ dryRun: true, credits: 3 });
  await expectCharged(service.table, license, 0);
});

describe('generate', () => {
  test('charges, stores and answers as POST /generate does, and get_generation finds it', async () => {
    const { key, license } = await grant(service.table);
    const result = await call(key, 'generate', order({ numOutputs: 2, seed: 7 }));
    const { requestId, outputs, usage } = result.structuredContent;
    expect(result.structuredContent).toMatchObject({ seed: 7, identity: { id: identity('aurora') } });
    expect([outputs.length, usage.creditsCharged]).toEqual([2, 2]);
    await Promise.all(outputs.map(openImage));
    await expectPreview(result);
    await expectCharged(service.table, license, 2);
    const got = await call(key, 'get_generation', { requestId: requestId.toUpperCase() });
    const record = await stored(service, key, requestId);
    // Links are signed anew.
    await expectPreview(got);
    const { outputs: links, outputUrl, previews, ...rest } = got.structuredContent;
    expect(previews).toHaveLength(2);
    expect(record).toMatchObject({ ...rest, status: 'COMPLETED', creditsCharged: 2 });
    await Promise.all([...links, outputUrl].map(openImage));
  });

  test('tells its progress to a caller who asks, in numbers that rise, before the result', async () => {
    const { key } = await grant(service.table);
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
    const { key, license } = await grant(service.table);
    const sent = order({ idempotencyKey: 'once' });
    const reversed = Object.fromEntries(Object.entries(sent).toReversed());
    const results = await Promise.all(
      [sent, reversed, sent, reversed].map((one) => call(key, 'generate', one)),
    );
    const refused = results.filter(({ isError }) => isError);
    const made = results.filter(({ isError }) => !isError);
    for (const { structuredContent } of refused)
      expect(structuredContent.code).toBe('IDEMPOTENCY_IN_PROGRESS');
    expect(made.length).toBeGreaterThan(0);
    const again = await call(key, 'generate', reversed);
    const ids = new Set([...made, again].map(({ structuredContent }) => structuredContent.requestId));
    expect(ids.size).toBe(1);
    await expectCharged(service.table, license, 1);
    expect((await call(key, 'quote', sent)).structuredContent.credits).toBe(0);
    const other = await call(key, 'generate', { ...sent, prompt: 'another' });
    expect(other.structuredContent).toMatchObject({
      code: 'IDEMPOTENCY_MISMATCH',
      error: expect.stringMatching(/^This idempotencyKey was used with another set of arguments\./),
    });
  });
});

describe('a refusal is the tool’s error', () => {
  const refusals: [string, () => object][] = [
    ['an unknown identity', () => ({ identityId: 'idn_nobody' })],
    ['wrong members', () => ({ prompt: '', width: 1, stpes: 3 })],
    ['too dear', () => ({ numOutputs: 4 })],
    ['a failing model', () => ({ identityId: identity('flint') })],
  ];

  test.each(refusals)('in its own words, with the code of POST /generate: %s', async (_, changed) => {
    const changes = changed();
    const { key, license } = await grant(service.table, { creditsLimit: 3 });
    const plain = await service.api({ path: '/generate', key, body: order(changes) });
    expect(plain.status).toBeGreaterThanOrEqual(400);
    const result = await call(key, 'generate', order(changes));
    const { error, code, retryAfterSeconds } = result.structuredContent;
    const said = plain.body.error.replace('GET /identities', 'list_identities');
    expect([result.isError, error, code]).toEqual([true, said, plain.body.code]);
    const wait = plain.headers.get('retry-after');
    // Seconds pass between the two where it is the time that a period has left.
    expect(Math.abs((retryAfterSeconds ?? 0) - Number(wait ?? 0))).toBeLessThanOrEqual(5);
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent);
    expect(await periodTotals(service.table, license)).toEqual({ used: 0, committed: 0 });
  });

  test('names what is wrong with an idempotencyKey and with arguments of the other tools', async () => {
    const { key } = await grant(service.table);
    for (const [name, sent, sentence] of [
      ['generate', order({ idempotencyKey: 'two words' }), /^idempotencyKey must be/],
      ['generate', order({ idempotencyKey: 7 }), /^idempotencyKey must be/],
      ['list_identities', { page: 2 }, /unknown member "page"/],
      ['get_generation', {}, /requestId/],
    ] as const) {
      const { structuredContent } = await call(key, name, sent);
      expect(structuredContent).toMatchObject({
        code: 'INVALID_PARAMETERS',
        error: expect.stringMatching(sentence),
      });
    }
  });

  test('generate and quote count with POST /generate, and none of them is let through beyond its limit', async () => {
    const { key, keyId } = await grant(service.table);
    const { quota, name: limit } = generateLimit;
    await rateLogStore(service.table).put(keyId, limit, Array(quota - 3).fill(Date.now()), 0);
    const bad = { identityId: 'idn_nobody' };
    const codes = [
      (await generate(service, key, bad)).body.code,
      (await call(key, 'quote', bad)).structuredContent.code,
      (await call(key, 'generate', bad)).structuredContent.code,
    ];
    expect(codes).toEqual(codes.map(() => 'IDENTITY_NOT_FOUND'));
    for (const name of ['quote', 'generate']) {
      const { isError, structuredContent } = await call(key, name, order());
      expect([isError, structuredContent.code]).toEqual([true, 'RATE_LIMITED']);
      expect(structuredContent.retryAfterSeconds).toBeGreaterThan(0);
    }
    expect((await call(key, 'list_identities')).isError).toBeUndefined();
  });
});
