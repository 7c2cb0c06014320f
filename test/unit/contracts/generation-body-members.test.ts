import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { describeIssues } from '../../../shared/contracts/fields.ts';
import { createGenerationBody } from '../../../shared/contracts/generation.ts';

const rest = '"identityId": "idn_1", "prompt": "a lighthouse"';

function messageOf(json: string): string | null {
  const result = createGenerationBody.safeParse(JSON.parse(json));
  return result.success ? null : describeIssues(result.error.issues);
}

const withReferences = (json: string) => messageOf(`{${rest}, "referenceImages": ${json}}`);
const url = (value: string) => JSON.stringify({ url: value });

describe('unknown members are refused by name', () => {
  test.each([
    ['a misspelt parameter', 'guidanceScal'],
    ['another spelling', 'num_outputs'],
    ['another case', 'Width'],
    ['the prototype', '__proto__'],
    ['a member of every object', 'constructor'],
    ['another member of every object', 'toString'],
    ['hasOwnProperty', 'hasOwnProperty'],
    ['the name of nothing', ''],
    ['a member of the playground only', 'licenseId'],
  ])('%s', (_what, name) => {
    for (const value of ['1', 'null', '{"prompt": "x"}']) {
      expect(messageOf(`{${rest}, "${name}": ${value}}`)).toContain(`unknown member "${name}"`);
    }
  });

  test('__proto__ does not stand in for a missing member', () => {
    const message = messageOf('{"identityId": "idn_1", "__proto__": {"prompt": "x"}}');
    expect(message).toContain('prompt must be');
    expect(message).toContain('unknown member "__proto__"');
  });

  test('several are named, each once', () => {
    const message = messageOf(`{${rest}, "stpes": 20, "Width": 512, "colour": "red"}`)!;
    for (const name of ['stpes', 'Width', 'colour']) expect(message.split(`"${name}"`)).toHaveLength(2);
  });

  test('in a reference image they are named with their place', () => {
    const message = withReferences(
      '[{"url": "https://a.example/"}, {"url": "https://a.example/", "weight": 1}]',
    );
    expect(message).toContain('unknown member "weight" in referenceImages[1]');
    expect(withReferences('[{"url": "https://a.example/", "__proto__": 1}]')).toContain('"__proto__"');
  });

  test('when more are sent than are named, the message says that there are more', () => {
    const members = Array.from({ length: 30 }, (_, i) => `"extra${i}": 1`).join(', ');
    const message = messageOf(`{${rest}, ${members}}`)!;
    const named = Array.from({ length: 30 }, (_, i) => message.includes(`"extra${i}"`)).filter(Boolean);
    expect(named.length === 30 || message.includes('more')).toBe(true);
    expect(message.length).toBeLessThan(2000);
  });
});

test('several problems are told at once, each field once', () => {
  const message = messageOf(
    '{"identityId": "idn_1", "prompt": "", "width": 100.5, "height": "1024", "seed": -1, "guidanceScale": null, "x": 1}',
  )!;
  for (const field of ['prompt', 'width', 'height', 'seed', 'guidanceScale', '"x"']) {
    expect(message.split(field)).toHaveLength(2);
  }
});

test('a missing prompt is named', () => {
  expect(messageOf('{"identityId": "idn_1"}')).toContain('prompt');
});

test('an empty body names what is missing without a stack of problems', () => {
  expect(messageOf('{}')).toMatch(/identityId.*prompt/);
});

describe('reference images', () => {
  test.each([
    ['none', '[]'],
    ['a link', `[${url('https://example.com/mug.png')}]`],
    ['a link with an upper case scheme', `[${url('HTTPS://example.com/mug.png')}]`],
    ['a link with a query and a fragment', `[${url('https://example.com/a?b=c&d=%20#e')}]`],
    ['a link with letters beyond ASCII', `[${url('https://example.com/bücher')}]`],
    ['a link of 2048 characters', `[${url(`https://example.com/${'a'.repeat(2048 - 20)}`)}]`],
    ['a link of 2048 code points', `[${url(`https://example.com/${'😀'.repeat(2048 - 20)}`)}]`],
    ['an upload', '[{"uploadId": "upl_1"}]'],
    [
      'four of both kinds',
      `[${url('https://a.example/')}, {"uploadId": "u"}, {"uploadId": "v"}, {"uploadId": "w"}]`,
    ],
  ])('%s: taken', (_what, json) => expect(withReferences(json)).toBeNull());

  test.each([
    ['five', `[${Array.from({ length: 5 }, () => url('https://a.example/')).join(',')}]`, 'referenceImages'],
    ['an object', url('https://a.example/'), 'referenceImages'],
    ['a link alone', '"https://a.example/"', 'referenceImages'],
    ['a list of links', '["https://a.example/"]', 'referenceImages[0]'],
    ['a hole in the list', `[${url('https://a.example/')}, null]`, 'referenceImages[1]'],
    ['an empty item', '[{}]', 'referenceImages[0]'],
    ['both members', '[{"url": "https://a.example/", "uploadId": "u"}]', 'referenceImages[0]'],
    [
      'null for one of them',
      '[{"url": "https://a.example/", "uploadId": null}]',
      'referenceImages[0].uploadId',
    ],
    ['a number for a link', '[{"url": 1}]', 'referenceImages[0].url'],
    ['an empty link', `[${url('')}]`, 'referenceImages[0].url'],
    ['http', `[${url('http://example.com/mug.png')}]`, 'referenceImages[0].url'],
    ['ftp', `[${url('ftp://example.com/mug.png')}]`, 'referenceImages[0].url'],
    ['a file', `[${url('file:///etc/passwd')}]`, 'referenceImages[0].url'],
    ['a data link', `[${url('data:image/png;base64,AAAA')}]`, 'referenceImages[0].url'],
    ['a bucket', `[${url('s3://bucket/key')}]`, 'referenceImages[0].url'],
    ['a link without a host', `[${url('https://')}]`, 'referenceImages[0].url'],
    ['a link without a scheme', `[${url('//example.com/mug.png')}]`, 'referenceImages[0].url'],
    ['a path', `[${url('/mug.png')}]`, 'referenceImages[0].url'],
    ['a space before', `[${url(' https://example.com/')}]`, 'referenceImages[0].url'],
    ['a space inside', `[${url('https://example.com/a b')}]`, 'referenceImages[0].url'],
    ['a line break after', `[${url('https://example.com/\n')}]`, 'referenceImages[0].url'],
    ['a port that is none', `[${url('https://example.com:99999/')}]`, 'referenceImages[0].url'],
    ['2049 characters', `[${url(`https://example.com/${'a'.repeat(2049 - 20)}`)}]`, 'referenceImages[0].url'],
    ['an empty upload', '[{"uploadId": ""}]', 'referenceImages[0].uploadId'],
    ['a number for an upload', '[{"uploadId": 7}]', 'referenceImages[0].uploadId'],
  ])('%s: refused, naming its place', (_what, json, place) => {
    expect(withReferences(json)).toContain(`${place} `);
  });

  test('every wrong item is named', () => {
    const message = withReferences(`[{}, ${url('https://a.example/')}, ${url('http://b.example/')}]`)!;
    expect(message).toContain('referenceImages[0]');
    expect(message).toContain('referenceImages[2].url');
    expect(message).not.toContain('referenceImages[1]');
  });

  test('a link is never echoed', () => {
    expect(withReferences(`[${url('http://secret.example/token')}]`)).not.toContain('secret');
  });
});

describe('whatever is sent', () => {
  const anyBody = fc.dictionary(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 60 }),
      fc.constantFrom('identityId', 'prompt', 'seed', 'width', 'referenceImages', 'referenceMode'),
    ),
    fc.jsonValue({ maxDepth: 3, stringUnit: 'binary' }),
    { maxKeys: 15 },
  );

  test('reading it never throws, and a refusal is printable ASCII of a readable length', () => {
    fc.assert(
      fc.property(anyBody, (body) => {
        const message = messageOf(JSON.stringify(body)) ?? 'taken';
        expect(message).toMatch(/^[ -~]+$/);
        expect(message.length).toBeLessThan(2000);
      }),
    );
  });
});
