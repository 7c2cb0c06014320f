import type { Written } from './body-model.ts';

export const text = (value: string): Written => ({ text: value });
export const literal = (value: string): Written => ({ literal: value });
export const object = (members: Record<string, Written>): Written => ({ members: Object.entries(members) });
export const texts = (...values: string[]) => values.map(text);
export const literals = (...values: string[]) => values.map(literal);
const filled = (length: number, ...characters: string[]) =>
  characters.map((character) => character.repeat(length));

const unclean = ['a\0', '\ud83d', 'a\ude00', '\ude00\ud83d'];
const sides = {
  right: literals('512', '576', '1024', '1.024e3', '512.0', '5120e-1', '1088', '2048'),
  wrong: literals(
    '448',
    '544',
    '511',
    '513',
    '1000',
    '1056',
    '-512',
    '0',
    '512.00000000000000000001',
    '1025',
    '2049',
    '64.5',
  ),
};

/** Of each parameter: values at and inside of its edges, some of them the tier's, then outside of them. */
export const values: Record<string, { right: Written[]; wrong: Written[] }> = {
  prompt: {
    right: texts('x', ' a\n', '"\\:,{}[]', 'é\u2028\ufeff', ...filled(1000, 'x', '🙂', 'é')),
    wrong: texts('', ' \t\n', '\u3000', '\ufffd', ...unclean, ...filled(1001, 'x', '🙂')),
  },
  negativePrompt: {
    right: texts('', ' ', ...filled(500, 'x', '🙂')),
    wrong: texts('\ufffd', ...unclean, ...filled(501, 'x', '🙂')),
  },
  seed: {
    right: literals('0', '-0', '1', '42.0', '4294967295', '4.294967295e9'),
    wrong: literals('-1', '4294967296', '0.5', '4294967295.5', '1e-400', '1.00000000000000000001'),
  },
  numInferenceSteps: {
    right: literals('20', '21', '50', '2E+1', '500e-1'),
    wrong: literals('19', '51', '20.5', '-20', '0', '50.00000000000000000001'),
  },
  guidanceScale: {
    right: literals('1', '20', '7.5', '1.0000001', '19.9999999', '0.1e1'),
    wrong: literals(
      '0.9999999',
      '20.0000001',
      '0',
      '-7.5',
      '20.00000000000000000001',
      '0.99999999999999999999',
    ),
  },
  numOutputs: {
    right: literals('1', '1.0', '10e-1', '4'),
    wrong: literals('0', '-0', '-1', '1.5', '0.99999999999999999999'),
  },
  width: sides,
  height: sides,
  outputFormat: {
    right: texts('png', 'webp', 'jpeg'),
    wrong: texts('', 'PNG', 'jpg', 'image/webp', 'webp ', 'avif'),
  },
  referenceMode: {
    right: texts('reference'),
    wrong: texts('', 'Reference', 'exact-product', 'exact_product '),
  },
  preserveBranding: { right: literals('true', 'false'), wrong: texts('true') },
};

const url = (value: string) => object({ url: text(value) });
const longUrl = (length: number, character = 'a') =>
  `https://a.example/${character.repeat(length - 'https://a.example/'.length)}`;

export const references = {
  right: [
    ...[
      'https://a.example',
      'HTTPS://A.example.org./?b=c#d',
      'https://a-1.example/bücher',
      longUrl(2048),
    ].map(url),
    url(longUrl(2048, '🙂')),
    ...['u', 'x'.repeat(100), '🙂'.repeat(100)].map((id) => object({ uploadId: text(id) })),
  ],
  wrong: [
    ...[
      'http://a.example/',
      'ftp://a.example/',
      'data:,x',
      '//a.example/',
      'a.example',
      '',
      longUrl(2049),
    ].map(url),
    ...[
      'https://',
      'https:///a',
      'https://u@a.example/',
      'https://u:p@a.example/',
      'https://a.example:8443/',
    ].map(url),
    ...[
      'https://127.0.0.1/',
      'https://[::1]/',
      'https://2130706433/',
      'https://10.1/',
      'https://localhost/',
    ].map(url),
    ...[' https://a.example/', 'https://a.example/ b', 'https://a.example/\t', 'https:\\\\a.example\\'].map(
      url,
    ),
    ...unclean.map((rest) => url(`https://a.example/${rest}`)),
    ...[...unclean, '', '  ', 'x'.repeat(101)].map((id) => object({ uploadId: text(id) })),
    object({ url: literal('1') }),
    object({ uploadId: literal('null') }),
    object({}),
    literal('null'),
    text('https://a.example/'),
    object({ url: text('https://a.example/'), uploadId: text('u') }),
    object({ url: text('https://a.example/'), weight: literal('1') }),
    {
      members: [
        ['url', text('https://a.example/')],
        ['__proto__', object({ uploadId: text('u') })],
      ],
    } as Written,
    {
      members: [
        ['uploadId', text('u')],
        ['uploadId', text('u')],
      ],
    } as Written,
  ],
};
