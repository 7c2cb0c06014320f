import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { closings, inMs, invoke } from './invocation.ts';
import type { Exchange } from './invocation.ts';
import { plainIdentity } from './sample-request.ts';
import { expectNoLink } from './fixture.ts';
import type { ContractFixture } from './fixture.ts';

type Changes = Record<string, unknown>;

const identity = (changes: Changes = {}): Changes => ({
  identity: { ...plainIdentity, ...changes },
});
const link = 'http://127.0.0.1/a?X-Amz-Signature=s';
const longLink = `${link}${'x'.repeat(8192)}`;
const listOf = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

/** A field, and changes to a request that make this field unfit. */
const unfit: [field: string, how: string, changes: Changes][] = [
  ['requestId', 'a number', { requestId: 5 }],
  ['requestId', 'empty', { requestId: '' }],
  ['requestId', 'too long', { requestId: 'x'.repeat(201) }],
  ['deadline', 'no time', { deadline: 'soon' }],
  ['deadline', 'a number', { deadline: 4_000_000_000 }],
  ['deadline', 'without a time zone', { deadline: '2040-01-01T00:00:00' }],
  ['deadline', 'a day that does not exist', { deadline: '2040-02-30T00:00:00Z' }],
  ['tenant', 'empty', { tenant: '' }],
  ['tenant', 'a number', { tenant: 5 }],
  ['tenant', 'too long', { tenant: 'x'.repeat(201) }],
  ['prompt', 'null', { prompt: null }],
  ['prompt', 'too long', { prompt: 'x'.repeat(4001) }],
  ['negativePrompt', 'a list', { negativePrompt: ['fog'] }],
  ['negativePrompt', 'too long', { negativePrompt: 'x'.repeat(4001) }],
  ['seed', 'negative', { seed: -1 }],
  ['seed', 'too large', { seed: 4294967296 }],
  ['seed', 'a fraction', { seed: 0.5 }],
  ['seed', 'text', { seed: '7' }],
  ['seed', 'true', { seed: true }],
  ['numInferenceSteps', 'too small', { numInferenceSteps: 19 }],
  ['numInferenceSteps', 'too large', { numInferenceSteps: 51 }],
  ['numInferenceSteps', 'a fraction', { numInferenceSteps: 20.5 }],
  ['numInferenceSteps', 'text', { numInferenceSteps: '20' }],
  ['guidanceScale', 'too small', { guidanceScale: 0.9 }],
  ['guidanceScale', 'too large', { guidanceScale: 20.1 }],
  ['guidanceScale', 'text', { guidanceScale: '7.5' }],
  ['guidanceScale', 'true', { guidanceScale: true }],
  ['width', 'no multiple of 64', { width: 520 }],
  ['width', 'too small', { width: 448 }],
  ['width', 'too large', { width: 2112 }],
  ['height', 'no multiple of 64', { height: 1000 }],
  ['height', 'too small', { height: 0 }],
  ['height', 'too large', { height: 4096 }],
  ['height', 'text', { height: '512' }],
  ['numOutputs', 'zero', { numOutputs: 0, outputs: [] }],
  ['numOutputs', 'too large', { numOutputs: 17, outputs: listOf(17, { putUrl: link }) }],
  ['numOutputs', 'true', { numOutputs: true }],
  ['outputFormat', 'unknown', { outputFormat: 'gif' }],
  ['outputFormat', 'in capitals', { outputFormat: 'PNG' }],
  ['outputFormat', 'a file extension', { outputFormat: 'jpg' }],
  ['outputFormat', 'null', { outputFormat: null }],
  ['outputFormat', 'a list', { outputFormat: ['png'] }],
  ['embedParameters', 'text', { embedParameters: 'no' }],
  ['embedParameters', 'null', { embedParameters: null }],
  ['outputs', 'fewer than numOutputs', { numOutputs: 2 }],
  ['outputs', 'more than numOutputs', { outputs: listOf(2, { putUrl: link }) }],
  ['outputs', 'no list', { outputs: { putUrl: link } }],
  ['outputs.0', 'null', { outputs: [null] }],
  ['outputs.0.putUrl', 'missing', { outputs: [{}] }],
  ['outputs.0.putUrl', 'no link for HTTP', { outputs: [{ putUrl: 'ftp://somewhere/?Signature=s' }] }],
  ['outputs.0.previewPutUrl', 'a number', { outputs: [{ putUrl: link, previewPutUrl: 5 }] }],
  [
    'outputs.0.previewPutUrl',
    'no link for HTTP',
    { outputs: [{ putUrl: link, previewPutUrl: 'ftp://somewhere/?Signature=s' }] },
  ],
  ['outputs.1.putUrl', 'too long', { numOutputs: 2, outputs: [{ putUrl: link }, { putUrl: longLink }] }],
  ['referenceMode', 'unknown', { referenceMode: 'guess' }],
  ['referenceMode', 'null', { referenceMode: null }],
  ['preserveBranding', 'text', { preserveBranding: 'yes' }],
  ['preserveBranding', 'a number', { preserveBranding: 1 }],
  ['references', 'null', { references: null }],
  ['references', 'more than four', { references: listOf(5, { url: link }) }],
  ['references.0', 'a bare link', { references: [link] }],
  ['references.0.url', 'a local file', { references: [{ url: 'file:///etc/passwd' }] }],
  ['references.1.url', 'no link', { references: [{ url: link }, { url: 'a b' }] }],
  ['references.0.url', 'too long', { references: [{ url: longLink }] }],
  ['identity', 'null', { identity: null }],
  ['identity', 'a list', { identity: [] }],
  ['identity.id', 'empty', identity({ id: '' })],
  ['identity.id', 'too long', identity({ id: 'x'.repeat(201) })],
  ['identity.adapterUrl', 'a number', identity({ adapterUrl: 1 })],
  ['identity.adapterUrl', 'too long', identity({ adapterUrl: longLink })],
  ['identity.adapterVersion', 'a list', identity({ adapterVersion: [] })],
  ['identity.adapterSha256', 'no digest', identity({ adapterSha256: 'f0' })],
  ['identity.settings', 'text', identity({ settings: 'style' })],
  ['identity.settings', 'a list', identity({ settings: [] })],
];

/** What is just within the limits. Its deadline is over, so that nobody paints it. */
const fit: [what: string, changes: Changes][] = [
  [
    'the longest texts',
    { prompt: 'x'.repeat(4000), negativePrompt: 'x'.repeat(4000), requestId: 'x'.repeat(200) },
  ],
  ['empty texts', { prompt: '', negativePrompt: '' }],
  ['the smallest numbers', { seed: 0, numInferenceSteps: 20, guidanceScale: 1, width: 512, height: 512 }],
  [
    'the largest numbers',
    { seed: 4294967295, numInferenceSteps: 50, guidanceScale: 20, width: 2048, height: 2048 },
  ],
  ['four references', { references: listOf(4, { url: link }), preserveBranding: true }],
  ['sixteen outputs', { numOutputs: 16, outputs: listOf(16, { putUrl: link }) }],
  ['no link for a preview', { outputs: [{ putUrl: link }] }],
  ['null for a preview', { outputs: [{ putUrl: link, previewPutUrl: null }] }],
  ['no format', { outputFormat: undefined }],
  ['no word about what files tell', { embedParameters: undefined }],
  ['no tenant', { tenant: undefined }],
  ['the longest tenant', { tenant: 'x'.repeat(200) }],
  ['no digest of its adapter', identity({ adapterSha256: undefined })],
  [
    'an adapter and settings of any kind',
    identity({
      adapterUrl: link,
      adapterVersion: 'v1',
      adapterSha256: 'f0'.repeat(32),
      settings: { a: [1, { b: null }] },
    }),
  ],
  ['a deadline to the second', { deadline: '2020-01-01T00:00:00Z' }],
  ['a deadline to the microsecond', { deadline: '2020-01-01T00:00:00.123456Z' }],
];

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
    test.each(unfit)('%s: %s', async (field, _how, changes) => {
      expect(expectInvalid(await send(changes))).toContain(field);
    });

    test('each field: missing', async () => {
      // An older service sends none of these.
      const optional = { outputFormat: undefined, embedParameters: undefined, tenant: undefined };
      const { identity: whole, ...fields } = fixture.request([]);
      const { adapterSha256: _optional, ...whose } = whole;
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

  test.each(fit)('a request with %s fits', async (_what, changes) => {
    const outcome = await fixture.ask({ deadline: inMs(-1_000), ...changes });

    expect(outcome.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
  });

  test.each<[string, Changes]>([
    ['surprise', { surprise: 1 }],
    ['identity.surprise', identity({ surprise: 1 })],
  ])('a member of a newer contract is passed over: %s', async (_field, changes) => {
    const exchange = await send({ deadline: inMs(-1_000), ...changes });

    expect(exchange.closing).toMatchObject({ event: 'failed', reason: 'deadline' });
  });

  test('a prompt with half a character is painted or refused', async () => {
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
      ['text', '"probe"', [200]],
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

  test('a probe is answered with one ready event', async () => {
    const probe = await invoke(fixture.running.url, { probe: true });

    expect(probe).toMatchObject({ status: 200, contentType: 'application/x-ndjson', whole: true });
    expect(probe.events).toEqual([{ event: 'ready', modelVersion: expect.any(String) }]);
  });

  test('there are two paths, each with its methods', async () => {
    const status = async (path: string, method: string): Promise<number> =>
      (await fetch(`${fixture.running.url}${path}`, { method })).status;

    expect([await status('/ping', 'GET'), await status('/ping', 'HEAD')]).toEqual([200, 200]);
    expect([await status('/ping', 'POST'), await status('/invocations', 'GET')]).toEqual([405, 405]);
    expect([await status('/else', 'POST'), await status('/', 'GET')]).toEqual([404, 404]);
  });
}
