import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { ModelCompleted } from '../../shared/model/contract.ts';
import { closings, inMs, invoke, type Exchange } from './invocation.ts';
import { plainIdentity } from './sample-request.ts';
import { expectNoLink, type ContractFixture } from './fixture.ts';

type Changes = Record<string, unknown>;

const identity = (changes: Changes): Changes => ({ identity: { ...plainIdentity, ...changes } });
const link = 'http://127.0.0.1/a?X-Amz-Signature=s';
const longLink = `${link}${'x'.repeat(8192)}`;
const noLink = 'ftp://somewhere/?Signature=s';
const listOf = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** Values that a field of a request does not take. */
const unfitValues: Record<string, unknown[]> = {
  requestId: [5, '', 'x'.repeat(201)],
  deadline: ['soon', 4_000_000_000, '2040-01-01T00:00:00', '2040-02-30T00:00:00Z'],
  tenant: ['', 5, 'x'.repeat(201)],
  prompt: [null, 'x'.repeat(4001)],
  negativePrompt: [['fog'], 'x'.repeat(4001)],
  seed: [-1, 4294967296, 0.5, '7', true],
  numInferenceSteps: [19, 51, 20.5, '20'],
  guidanceScale: [0.9, 20.1, '7.5', true],
  width: [520, 448, 2112],
  height: [1000, 448, 2112, '512'],
  numOutputs: [true],
  outputFormat: ['gif', 'PNG', 'jpg', null, ['png']],
  embedParameters: ['no', null],
  outputs: [listOf(2, { putUrl: link }), { putUrl: link }],
  referenceMode: ['guess', null],
  preserveBranding: ['yes', 1],
  references: [null, listOf(5, { url: link })],
  identity: [null, []],
};
const unfitIdentities: Record<string, unknown[]> = {
  id: ['', 'x'.repeat(201)],
  adapterUrl: [1, longLink],
  adapterVersion: [[]],
  version: [0, '1', 1.5],
  adapterSha256: ['f0'],
  settings: ['style', []],
};

/** A field, and changes to a request that make this field unfit. */
const unfit: [field: string, changes: Changes][] = [
  ...Object.entries(unfitValues).flatMap(([field, values]) =>
    values.map((value): [string, Changes] => [field, { [field]: value }]),
  ),
  ...Object.entries(unfitIdentities).flatMap(([field, values]) =>
    values.map((value): [string, Changes] => [`identity.${field}`, identity({ [field]: value })]),
  ),
  ['numOutputs', { numOutputs: 0, outputs: [] }],
  ['numOutputs', { numOutputs: 17, outputs: listOf(17, { putUrl: link }) }],
  ['outputs', { numOutputs: 2 }],
  ['outputs.0', { outputs: [null] }],
  ['outputs.0.putUrl', { outputs: [{}] }],
  ['outputs.0.putUrl', { outputs: [{ putUrl: noLink }] }],
  ['outputs.0.previewPutUrl', { outputs: [{ putUrl: link, previewPutUrl: 5 }] }],
  ['outputs.0.previewPutUrl', { outputs: [{ putUrl: link, previewPutUrl: noLink }] }],
  ['outputs.1.putUrl', { numOutputs: 2, outputs: [{ putUrl: link }, { putUrl: longLink }] }],
  ['references.0', { references: [link] }],
  ['references.0.url', { references: [{ url: 'file:///etc/passwd' }] }],
  ['references.0.url', { references: [{ url: longLink }] }],
  ['references.1.url', { references: [{ url: link }, { url: 'a b' }] }],
];

/** What is just within the limits. Its deadline is over, so that nothing is generated for it. */
const fit: Record<string, Changes> = {
  'the longest texts': {
    prompt: 'x'.repeat(4000),
    negativePrompt: 'x'.repeat(4000),
    requestId: 'x'.repeat(200),
    tenant: 'x'.repeat(200),
  },
  'empty texts': { prompt: '', negativePrompt: '' },
  'the smallest numbers': { seed: 0, numInferenceSteps: 20, guidanceScale: 1, width: 512, height: 512 },
  'the largest numbers': {
    seed: 4294967295,
    numInferenceSteps: 50,
    guidanceScale: 20,
    width: 2048,
    height: 2048,
  },
  'four references': { references: listOf(4, { url: link }), preserveBranding: true },
  'sixteen outputs': { numOutputs: 16, outputs: listOf(16, { putUrl: link }) },
  'null for a preview': { outputs: [{ putUrl: link, previewPutUrl: null }] },
  'only what the first service knew': {
    outputs: [{ putUrl: link }],
    outputFormat: undefined,
    embedParameters: undefined,
    tenant: undefined,
    ...identity({ adapterSha256: undefined, version: undefined }),
  },
  'members of a newer contract': { surprise: 1, ...identity({ surprise: 1 }) },
  'an adapter and settings of any kind': identity({
    adapterUrl: link,
    adapterVersion: 'v1',
    adapterSha256: 'f0'.repeat(32),
    settings: { a: [1, { b: null }] },
  }),
  'a deadline to the second': { deadline: '2020-01-01T00:00:00Z' },
  'a deadline to the microsecond': { deadline: '2020-01-01T00:00:00.123456Z' },
};

function expectInvalid({ status, contentType, events }: Exchange, statuses = [200]): string {
  expect(statuses).toContain(status);
  expect(contentType).toBe('application/x-ndjson');
  expect(events).toMatchObject([{ event: 'failed', reason: 'invalid_request' }]);
  const { message } = events[0] as { message: string };
  expectNoLink(message);
  return message;
}

export function requestCases(fixture: ContractFixture): void {
  const send = async (changes: Changes): Promise<Exchange> =>
    invoke(fixture.running.url, { ...fixture.request(await fixture.outputs(1)), ...changes });

  describe('a request that does not fit the contract is refused by the name of its field', () => {
    const byField = Object.groupBy(unfit, ([field]) => field);
    test.each(Object.keys(byField))('%s', async (field) => {
      for (const [, changes] of byField[field]!) expect(expectInvalid(await send(changes))).toContain(field);
    });

    test('each field: missing', async () => {
      // An older service sends none of these.
      const optional = { outputFormat: undefined, embedParameters: undefined, tenant: undefined };
      const { identity: whole, ...fields } = fixture.request([]);
      const { adapterSha256: _sha256, version: _version, ...whose } = whole;
      for (const field of [...Object.keys(fields), 'identity']) {
        if (field in optional) continue;
        expect(expectInvalid(await send({ [field]: undefined }))).toContain(field);
      }
      for (const field of Object.keys(whose)) {
        expect(expectInvalid(await send({ identity: { ...whose, [field]: undefined } }))).toContain(
          `identity.${field}`,
        );
      }
    });

    test('a number that is infinite', async () => {
      const text = JSON.stringify(fixture.request([])).replace('"seed":11', '"seed":1e999');
      expect(expectInvalid(await invoke(fixture.running.url, text))).toContain('seed');
    });
  });

  test.each(Object.keys(fit))('a request with %s fits', async (what) => {
    const { closing } = await fixture.ask({ deadline: inMs(-1_000), ...fit[what] });

    expect(closing).toMatchObject({ event: 'failed', reason: 'deadline' });
  });

  test('a prompt with half a character gets its picture or is refused', async () => {
    const { closing, status } = await send({ prompt: 'a sea \ud83c of' });

    expect(status).toBe(200);
    if (closing?.event === 'failed') expect(closing.reason).toBe('invalid_request');
    else expect(closing).toMatchObject({ event: 'completed' });
  });

  describe('a body', () => {
    test.each<[string, string | Buffer, number[]]>([
      ['not JSON', '{"prompt": ', [400]],
      ['empty', '', [400]],
      ['JSON with NaN', '{"seed": NaN}', [400]],
      ['JSON with an infinity', '{"seed": -Infinity}', [400]],
      ['no UTF-8', Buffer.from([0xff, 0xfe, 0x00, 0x7b]), [400]],
      ['over 1 MiB', JSON.stringify({ prompt: 'x'.repeat(1024 * 1024) }), [413]],
      ['a list', '[]', [200]],
      ['null', 'null', [200]],
      ['a probe that is false', '{"probe": false}', [200]],
      ['nested 200,000 deep', '['.repeat(200_000) + ']'.repeat(200_000), [200, 400]],
      ['a number of many digits', `{"seed": ${'9'.repeat(10_000)}}`, [200, 400]],
    ])('that is %s is answered with one failed event', async (_what, body, statuses) => {
      expectInvalid(await invoke(fixture.running.url, body), statuses);
    });

    test('may have 1 MiB and not a byte more', async () => {
      const probe = JSON.stringify({ probe: true }).padEnd(1024 * 1024);

      expect((await invoke(fixture.running.url, probe)).events).toMatchObject([{ event: 'ready' }]);
      expectInvalid(await invoke(fixture.running.url, `${probe} `), [413]);
    });

    test('never ends the container, whatever it is', async () => {
      const field = fc.oneof(
        fc.jsonValue(),
        fc.string(),
        fc.constant(-0),
        fc.double(),
        fc.constant('__proto__'),
      );
      const mutation = fc.tuple(fc.constantFrom(...Object.keys(fixture.request([]))), field);
      const [place] = await fixture.outputs(1);
      const body = fc.oneof(
        fc.array(mutation, { minLength: 1, maxLength: 3 }).map((pairs) => ({
          ...fixture.request([place!], { deadline: inMs(0) }),
          ...Object.fromEntries(pairs),
        })),
        fc.jsonValue(),
        fc.string(),
        fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      );
      await fc.assert(
        fc.asyncProperty(body, async (anything) => {
          const exchange = await invoke(fixture.running.url, anything);
          expect([200, 400]).toContain(exchange.status);
          expect(closings(exchange)).toEqual([exchange.closing]);
        }),
        { numRuns: 150 },
      );
      expect((await fetch(`${fixture.running.url}/ping`)).status).toBe(200);
    });
  });

  test('a probe is answered with one ready event, which names the version of the model as each answer does', async () => {
    const probe = await invoke(fixture.running.url, { probe: true });
    const { modelVersion } = (await fixture.generate()).exchange.closing as ModelCompleted;

    expect(probe).toMatchObject({ status: 200, contentType: 'application/x-ndjson', whole: true });
    expect(probe.events).toEqual([{ event: 'ready', modelVersion: expect.stringMatching(/./) }]);
    expect(probe.events).toMatchObject([{ modelVersion }]);
  });

  test('there are two paths, each with its methods', async () => {
    const status = async (path: string, method: string): Promise<number> =>
      (await fetch(`${fixture.running.url}${path}`, { method })).status;

    expect([await status('/ping', 'GET'), await status('/ping', 'HEAD')]).toEqual([200, 200]);
    expect([await status('/ping', 'POST'), await status('/invocations', 'GET')]).toEqual([405, 405]);
    expect([await status('/else', 'POST'), await status('/', 'GET')]).toEqual([404, 404]);
  });
}
