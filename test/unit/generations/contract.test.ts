import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { describeIssues } from '../../../shared/base/fields.ts';
import { createGenerationBody } from '../../../shared/generations/contract.ts';
import { openApiDocument } from '../../../shared/openapi/document.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { fits } from '../openapi/json-schema.ts';

/** Reads JSON as it comes over the wire, so that 1e400, -0 and `__proto__` are what they are there. */
const parse = (json: string) => createGenerationBody.safeParse(JSON.parse(json));

/** What a body is refused with; null when it is taken. */
function refusal(json: string): string | null {
  const result = parse(json);
  return result.success ? null : describeIssues(result.error.issues);
}

const rightBody: Record<string, string> = { identityId: '"idn_1"', prompt: '"a lighthouse"' };
/** A right body with these members, of which the values are JSON. */
const bodyWith = (changes: Record<string, string>) => {
  const members = [...new Map([...Object.entries(rightBody), ...Object.entries(changes)])];
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`;
};
const document = openApiDocument();
const fitsSchema = (json: string) =>
  fits(document.components.schemas.GenerationRequest, JSON.parse(json), document);
const privateHosts = ['127.0.0.1', '[::1]', '2130706433', '10.1', 'localhost'];
const notPublic = ['a.example:8443', 'a.example:99999', ...privateHosts].map((host) => `https://${host}/`);
/** What the service refuses and no schema can say: halves of surrogate pairs, and hosts that are not public. */
const isBeyondSchema = (json: string) =>
  json.includes('\\ud') || notPublic.some((link) => json.includes(`"${link}"`));
const quoted = (...texts: string[]) => texts.map((text) => JSON.stringify(text));
const filled = (length: number, ...characters: string[]) =>
  quoted(...characters.map((character) => character.repeat(length)));

/** A lone high or low surrogate, two in the wrong order, a NUL: text that UTF-8 or other programs do not carry. */
const uncleanEscapes = ['\\ud83d', '\\ude00', '\\ude00\\ud83d', '\\u0000'];
const unclean = uncleanEscapes.map((escape) => `"a${escape}b"`);
const never = ['{}', '{"0": 1}'];
const noText = [...never, '1', '0', '1e400', 'true', '[]', '["reference"]'];
const noNumber = [...never, '"30"', '"1024"', '"NaN"', '1e400', '-1e400', 'true', 'false', '[]', '[1024]'];
const side = {
  right: ['512', '576', '1.024e3', '2048', '2048.0', '64000'],
  wrong: ['0', '-512', '448', '511', '513', '512.5', '544', '575', '1000', '1023', '1025', '1056'],
};

/** The values that each parameter takes up to its edges, and those beside them that it refuses, as JSON. */
const parameters: Record<string, { right: string[]; wrong: string[] }> = {
  prompt: {
    right: [
      ...quoted('x', ' a\nb ', '"\\:,{}[]', '😀', '\ufffd', '\u0085', '\u200b'),
      ...filled(1000, 'a', 'é', '語', '😀'),
    ],
    wrong: [
      ...quoted('', ' \t\n', '\u3000', '\u2003\ufeff'),
      ...filled(1001, 'a', '😀'),
      ...unclean,
      ...noText,
      'null',
    ],
  },
  negativePrompt: {
    right: [...quoted('', ' '), ...filled(500, 'a', '😀')],
    wrong: [...filled(501, 'a', '😀'), ...unclean, ...noText],
  },
  seed: {
    right: ['0', '-0', '42.0', '4e2', '4294967295'],
    wrong: ['-1', '1.5', '4294967296', '9007199254740993', ...noNumber],
  },
  numInferenceSteps: { right: ['20', '30.0', '50'], wrong: ['19', '30.5', '51', ...noNumber] },
  guidanceScale: {
    right: ['1', '1.0000001', '19.999', '20'],
    wrong: ['0', '-7.5', '0.9999999', '20.0000001', ...noNumber],
  },
  // How many and how large is the tier's to say.
  numOutputs: { right: ['1', '4', '5', '1e300'], wrong: ['0', '-0', '-1', '1.5', ...noNumber] },
  width: { right: [...side.right, '9007199254740992'], wrong: [...side.wrong, ...noNumber] },
  height: { right: [...side.right, '1e300'], wrong: [...side.wrong, ...noNumber] },
  outputFormat: {
    right: quoted('png', 'webp', 'jpeg'),
    wrong: [...quoted('', 'PNG', 'jpg', 'image/png', 'webp ', 'toString'), ...noText],
  },
  referenceMode: {
    right: quoted('exact_product', 'reference'),
    wrong: [...quoted('', 'Exact_Product', 'exact-product'), ...noText],
  },
  preserveBranding: {
    right: ['true', 'false'],
    wrong: [...never, ...quoted('true', 'false', ''), '1', '0', '[]'],
  },
};
const list = (length: number) => JSON.stringify(Array.from({ length }, () => ({ uploadId: 'u' })));
const noList = [list(5), ...never, '"https://a.example/"', '{"url": "https://a.example/"}', '1', 'true'];

/** The parameters that a sentence names. */
const namedIn = (message: string | null) =>
  [...Object.keys(parameters), 'referenceImages'].filter((name) =>
    new RegExp(`(?<![A-Za-z])${name}(?![A-Za-z])`).test(message ?? ''),
  );

const withReference = (name: string, json: string) =>
  bodyWith({ referenceImages: '[{"uploadId": "u"}]', [name]: json });

describe.each([
  ...Object.entries(parameters),
  ['referenceImages', { right: ['[]', list(4)], wrong: noList }] as const,
])('%s', (name, { right, wrong }) => {
  test('takes the values up to its edges, as they are', () => {
    for (const json of right) {
      const result = parse(bodyWith({ [name]: json }));
      expect([json, result.error?.issues]).toEqual([json, undefined]);
      expect(Object(result.data)[name]).toEqual(JSON.parse(json));
      expect([json, fitsSchema(withReference(name, json))]).toEqual([json, true]);
    }
  });

  test('refuses the values past its edges and other types, naming itself and no other', () => {
    for (const json of wrong) {
      const message = refusal(bodyWith({ [name]: json }));
      expect([json, namedIn(message)]).toEqual([json, [name]]);
      expect(message).toMatch(/^[ -~]{1,200}$/);
      expect([json, fitsSchema(withReference(name, json))]).toEqual([json, isBeyondSchema(json)]);
    }
  });
});

test('of any mix of right, wrong and unknown members, each that is wrong is named once, and no other', () => {
  const oneOf = ([name, { right, wrong }]: (typeof all)[number]) =>
    fc
      .tuple(
        fc.constantFrom(...right),
        fc.constantFrom(...wrong),
        fc.constantFrom('absent', 'right', 'wrong'),
      )
      .map(([good, bad, which]) => ({ name, which, json: which === 'right' ? good : bad }));
  const all = Object.entries(parameters).filter(([name]) => name !== 'prompt');
  const unknown = fc.subarray(['stpes', 'Width', '__proto__', 'constructor', 'toString', '', '1', 'a:b']);
  fc.assert(
    fc.property(fc.tuple(...all.map(oneOf)), unknown, (given, others) => {
      const sent = given.filter(({ which }) => which !== 'absent');
      const pairs = [...sent.map(({ name, json }) => [name, json]), ...others.map((name) => [name, '1'])];
      const message = refusal(bodyWith(Object.fromEntries(pairs) as Record<string, string>));
      const wrong = sent.filter(({ which }) => which === 'wrong').map(({ name }) => name);
      expect(namedIn(message)).toEqual(wrong);
      expect(message === null).toBe(wrong.length + others.length === 0);
      for (const name of wrong) expect(message!.split(new RegExp(`\\b${name} `))).toHaveLength(2);
      for (const name of others) expect(message!.split(`unknown member "${name}"`)).toHaveLength(2);
    }),
    { numRuns: 300 },
  );
});

test('every optional member has its default, but the seed, which the server chooses', () => {
  expect(parse(bodyWith({})).data).toEqual({
    identityId: 'idn_1',
    prompt: 'a lighthouse',
    negativePrompt: '',
    numInferenceSteps: 30,
    guidanceScale: 7.5,
    numOutputs: 1,
    width: 1024,
    height: 1024,
    outputFormat: 'png',
    referenceImages: [],
    referenceMode: 'reference',
    preserveBranding: false,
  });
});

test('null is the absence of an optional member, of an item of referenceImages too', () => {
  const optional = [...Object.keys(parameters).filter((name) => name !== 'prompt'), 'referenceImages'];
  const nulls = bodyWith(Object.fromEntries(optional.map((name) => [name, 'null'])));
  expect(parse(nulls).data).toEqual(parse(bodyWith({})).data);
  const referenceImages = '[{"url": null, "uploadId": "u"}, {"url": "https://a.example/", "uploadId": null}]';
  const items = [{ uploadId: 'u' }, { url: 'https://a.example/' }];
  expect(parse(bodyWith({ referenceImages })).data!.referenceImages).toEqual(items);
  expect([nulls, bodyWith({ referenceImages })].map(fitsSchema)).toEqual([true, true]);
});

test.each([
  '{}',
  '{"identityId": null, "prompt": null}',
  '{"__proto__": {"identityId": "idn_1", "prompt": "x"}}',
])('%s names what is missing', (json) => {
  expect(refusal(json)).toMatch(/identityId must.*prompt must/);
});

describe('reference images', () => {
  const withReferences = (json: string) => refusal(bodyWith({ referenceImages: json }));
  const url = (text: string) => JSON.stringify({ url: text });
  const upload = (text: string) => JSON.stringify({ uploadId: text });
  const link = (length: number, character = 'a') =>
    url(`https://a.example/${character.repeat(length - 'https://a.example/'.length)}`);

  test('are taken up to four, as links and as uploads', () => {
    const links = ['https://a.example', 'HTTPS://A.example.org./?b=c&d=%20#e', 'https://a-1.example/bücher'];
    const files = [
      'data:;base64,',
      'DATA:a/b;c=d;BASE64,iVBOR+/=',
      `data:image/png;base64,${'A'.repeat(4 * 2048)}`,
    ];
    const right = [
      ...links.map(url),
      link(2048),
      link(2048, '😀'),
      ...['u', 'x'.repeat(100), '😀'.repeat(100)].map(upload),
    ];
    for (const item of [...right, ...files.map(url)]) {
      expect([item, withReferences(`[${item}]`)]).toEqual([item, null]);
      expect([item, fitsSchema(bodyWith({ referenceImages: `[${item}]` }))]).toEqual([item, true]);
    }
    expect(withReferences(`[${right.slice(2, 6).join(',')}]`)).toBeNull();
    expect(withReferences(`[${right.slice(2, 7).join(',')}]`)).toContain('referenceImages must be');
  });

  // By scheme, by form, by who is named and by the host, by white space and backslashes.
  const wrongLinks = [
    ['http://a.example/', 'ftp://a.example/', 'file:///etc/passwd', 'data:,x', 's3://bucket/key'],
    ['//a.example/', 'a.example', '/mug.png', '', 'https://', 'https:///a'],
    ['https://u@a.example/', 'https://u:p@a.example/', ...notPublic],
    [' https://a.example/', 'https://a.example/ b', 'https://a.example/\t', 'https:\\\\a.example\\'],
    ['data:text/plain,x', 'data:;base64', 'data:;base64,iVBO=', 'data:;base64,iV=O', 'data:;base64,iVBO iVB'],
    ['data:;base64,-_8=', 'data:;base64,iVB%3D', `data:${'a'.repeat(101)};base64,`],
  ].flat();
  const wrongItems: [json: string, place: string][] = [
    ...wrongLinks.map((text): [string, string] => [url(text), '.url']),
    [link(2049), '.url'],
    ...uncleanEscapes.map((escape): [string, string] => [`{"url": "https://a.example/${escape}"}`, '.url']),
    ...unclean.map((json): [string, string] => [`{"uploadId": ${json}}`, '.uploadId']),
    ...['', '  ', 'x'.repeat(101)].map((text): [string, string] => [upload(text), '.uploadId']),
    ['{"url": 1}', '.url'],
    ['{"uploadId": 7}', '.uploadId'],
    ['{"url": "https://a.example/", "uploadId": "u"}', ''],
    ['{"url": null, "uploadId": null}', ''],
    ...['{}', 'null', '"https://a.example/"'].map((json): [string, string] => [json, '']),
  ];
  test.each(wrongItems)('%s is refused by its place, and not quoted', (json, place) => {
    const message = withReferences(`[${upload('u')}, ${json}]`);
    expect(message).toContain(`referenceImages[1]${place} must`);
    expect(message).not.toContain('referenceImages[0]');
    expect(message).toMatch(/^[ -~]{1,200}$/);
    expect(message).not.toContain('a.example');
    // The document says in words that there is exactly one of the two.
    const isWithoutOne = /^\{("url": .*, "uploadId": .*)?\}$/.test(json);
    // What is too long for a link may be a file, and a pattern can't count to four.
    const isOtherLength = json === link(2049) || json === url('data:;base64,iVBO=');
    const fitting = fitsSchema(bodyWith({ referenceImages: `[${json}]` }));
    expect(fitting).toBe(isBeyondSchema(json) || isWithoutOne || isOtherLength);
  });

  test('have one member each, and each wrong item and unknown member is named with its place', () => {
    const items = [
      '{"url": "http://a.example/", "uploadId": "u"}',
      upload('u'),
      '{"uploadId": "u", "weight": 1, "__proto__": 1}',
    ];
    const message = withReferences(`[${items.join(',')}]`)!;
    expect(message).toContain('referenceImages[0].url must begin with https://; ');
    expect(message).toContain('referenceImages[0] must have exactly one of url and uploadId');
    for (const name of ['weight', '__proto__'])
      expect(message).toContain(`unknown member "${name}" in referenceImages[2]`);
    expect(message).not.toContain('referenceImages[1]');
  });
});

test('whatever is sent, reading it never throws, and a refusal is printable ASCII of a readable length', () => {
  const name = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.constantFrom('identityId', 'prompt', 'seed', 'width', 'referenceImages', 'referenceMode'),
  );
  const value = fc.jsonValue({ maxDepth: 3, stringUnit: anyCharacter });
  fc.assert(
    fc.property(fc.dictionary(name, value, { maxKeys: 30 }), (body) => {
      expect(refusal(JSON.stringify(body)) ?? 'taken').toMatch(/^[ -~]{1,2000}$/);
    }),
  );
  expect(refusal(bodyWith({ prompt: JSON.stringify('x'.repeat(1_000_000)) }))!.length).toBeLessThan(200);
});
