import { deflateSync, gzipSync } from 'node:zlib';
import { isGenerating, marker, membersOf, objectOf, ways, type Hostile } from './hostile.ts';

type Write = (members: string[]) => string | Buffer;

const posts = ways.filter(({ route }) => route.method === 'POST');
const deep = 200_000;
const nested = `${'['.repeat(deep)}${']'.repeat(deep)}`;
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const withMember = (member: string) => (members: string[]) => objectOf([...members, member]);

/** What is no JSON object in UTF-8, or not as it was meant. */
const unreadable: Record<string, Write> = {
  'white space': () => ' \r\n\t',
  null: () => 'null',
  true: () => 'true',
  'a number': () => '12',
  'a text': (members) => JSON.stringify(objectOf(members)),
  'an array': () => '[]',
  'an array of the object': (members) => `[${objectOf(members)}]`,
  'a comma too many': (members) => `{${members.join()},}`,
  'a comma too few': (members) => `{${members.join(' ')} "x":1 "y":2}`,
  NaN: withMember('"seed":NaN'),
  Infinity: withMember('"seed":-Infinity'),
  'a number with a plus': withMember('"seed":+1'),
  'a number with a zero before it': withMember('"seed":01'),
  'a hexadecimal number': withMember('"seed":0x10'),
  'a number that ends early': withMember('"seed":1.'),
  'a comment': (members) => `/* ${marker} */${objectOf(members)}`,
  'a comment to the end': (members) => `${objectOf(members)}// ${marker}`,
  'two documents': (members) => `${objectOf(members)}${objectOf(members)}`,
  'two documents on two lines': (members) => `${objectOf(members)}\n${objectOf(members)}\n`,
  'single quotes': () => `{'prompt':'${marker}'}`,
  'a name without quotes': () => `{prompt:"${marker}"}`,
  'an object that is cut': (members) => objectOf(members).slice(0, -1),
  'a text that is cut': () => `{"prompt":"${marker}`,
  'a new line in a text': withMember(`"x":"${marker}\n"`),
  'a raw NUL': withMember(`"x":"${marker}\0"`),
  'a NUL after it': (members) => `${objectOf(members)}\0`,
  'an escape that is none': withMember(`"x":"\\x41"`),
  'a form': () => `prompt=${marker}&seed=1`,
  XML: () => `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>`,
  'a guard before it': (members) => `)]}',\n${objectOf(members)}`,
  'a byte order mark': (members) => `\ufeff${objectOf(members)}`,
  'UTF-16': (members) => Buffer.from(objectOf(members), 'utf16le'),
  'UTF-16 with its mark': (members) => Buffer.from(`\ufeff${objectOf(members)}`, 'utf16le'),
  'a byte that is no UTF-8': (members) => latin1(withMember(`"${marker}":"\xff"`)(members)),
  'Latin-1': (members) => latin1(withMember(`"${marker}":"caf\xe9"`)(members)),
  'an overlong slash': (members) => latin1(withMember(`"${marker}":"\xc0\xaf"`)(members)),
  'an encoded surrogate': (members) => latin1(withMember(`"${marker}":"\xed\xa0\x80"`)(members)),
  'a character that is cut': (members) => latin1(`${objectOf(members)}\xe2\x82`),
  'bytes in the place of a name': (members) => latin1(withMember('"\xfe":1')(members)),
  'what lost bytes were replaced by': withMember(`"${marker}":"\ufffd"`),
  'gzip without saying so': (members) => gzipSync(objectOf(members)),
  'deep nesting that is cut': (members) => `${objectOf(members).slice(0, -1)},"x":${'['.repeat(deep)}`,
};

const twice: Record<string, Write> = {
  'its first member twice': ([first = '', ...rest]) => objectOf([first, ...rest, first]),
  'a member twice': withMember(`"${marker}":1,"${marker}":2`),
  'a member twice, once escaped': withMember(`"${marker}":1,"\\u0068${marker.slice(1)}":2`),
  'a member twice, deep down': withMember(`"x":[{"y":[{"${marker}":1,"z":{},"${marker}":1}]}]`),
  'a prototype twice': withMember('"__proto__":{},"__proto__":{}'),
  'a member twice below much': withMember(
    `"x":${'{"x":'.repeat(deep / 2)}{"y":1,"y":1}${'}'.repeat(deep / 2)}`,
  ),
};

/** Members that no body has, and what their refusal names. */
const unknown: Record<string, [member: string, says: string]> = {
  'a member of its own': [`"${marker}":1`, `"${marker}"`],
  'a prototype': ['"__proto__":{"seed":1,"licenseId":"x"}', '"__proto__"'],
  'a constructor': ['"constructor":{"prototype":{"seed":1}}', '"constructor"'],
  'a method of all objects': ['"toString":1,"hasOwnProperty":1,"valueOf":null', '"hasOwnProperty"'],
  'a prototype that is nothing': ['"__proto__":null', '"__proto__"'],
  'a member without a name': ['"":1', '""'],
  'a name that acts on terminals': [`"\\u001b[2J${marker}\\u009b\\u202e":1`, `"?[2J${marker}??"`],
  'a name that ends a line': [`"${marker}\\r\\n\\u2028":1`, `"${marker}???"`],
  'a name that is half a character': [`"${marker}\\ud800":1`, `"${marker}?"`],
  'a name that is a key of the table': [`"PK#${marker}":"LICENSE#x"`, `"PK#${marker}"`],
  'the character that stands for lost bytes, escaped': [`"${marker}":"\\ufffd"`, `"${marker}"`],
  'a number that is none': [`"${marker}":1e400`, `"${marker}"`],
  'a deep member': [`"${marker}":${nested}`, `"${marker}"`],
  'a deep prototype': [
    `"__proto__":${'{"__proto__":'.repeat(deep / 4)}1${'}'.repeat(deep / 4)}`,
    '"__proto__"',
  ],
  'many members': [Array.from({ length: 50_000 }, (_, i) => `"${marker}${i}":${i}`).join(), 'and more'],
};

/** Values that a member of a generation does not take. */
const values: [field: string, value: string][] = [
  ['prompt', `"${marker}\\ud800"`],
  ['prompt', `"\\udc00${marker}"`],
  ['prompt', `"${marker}\\u0000"`],
  ['prompt', nested],
  ['prompt', `{"toString":"${marker}","length":1}`],
  ['negativePrompt', `"\\ud83d"`],
  ['seed', '1e400'],
  ['seed', '-1e400'],
  ['seed', '9007199254740993'],
  ['seed', '4294967296'],
  ['seed', '1e-400'],
  ['seed', '1.00000000000000000001'],
  ['seed', '4294967295.00000000000000000001'],
  ['seed', '"1"'],
  ['seed', '{"valueOf":1}'],
  ['numInferenceSteps', '30.00000000000000000001'],
  ['numInferenceSteps', '1e308'],
  ['guidanceScale', '20.00000000000000000001'],
  ['guidanceScale', '1e400'],
  ['numOutputs', '1e400'],
  ['numOutputs', '0.99999999999999999999'],
  ['width', '1e400'],
  ['width', '512.00000000000000000001'],
  ['height', '1e-400'],
  ['height', nested],
  ['referenceImages', `{"length":1,"0":{"url":"https://a.test/${marker}"}}`],
  ['referenceImages[0]', `[${nested}]`],
  ['referenceMode', '"__proto__"'],
  ['outputFormat', '"constructor"'],
  ['outputFormat', '["png"]'],
  ['preserveBranding', '1'],
];

export const hostileBodies: Hostile[] = posts.flatMap((way) => {
  const write = (what: string, body: Write, rest: Pick<Hostile, 'status' | 'code' | 'says'>): Hostile => ({
    what,
    way,
    request: (caller) => ({ body: body(membersOf(way, caller)) }),
    ...rest,
  });
  const invalidBody = { status: 400, code: 'INVALID_BODY' } as const;
  const invalidParameters = { status: 400, code: 'INVALID_PARAMETERS' } as const;
  const generation = isGenerating(way) ? values : [];
  return [
    ...Object.entries(unreadable).map(([what, body]) => write(what, body, invalidBody)),
    ...Object.entries(twice).map(([what, body]) => write(what, body, { ...invalidBody, says: 'twice' })),
    ...Object.entries(unknown).map(([what, [member, says]]) =>
      write(what, withMember(member), { ...invalidParameters, says }),
    ),
    ...generation.map(([says, value]) => {
      const field = says.replace(/\[.*/, '');
      const body: Write = (members) =>
        objectOf([...members.filter((member) => !member.startsWith(`"${field}"`)), `"${field}":${value}`]);
      return write(`${field} = ${value.slice(0, 40)}`, body, { ...invalidParameters, says });
    }),
    write('more than 1 MiB', () => `"${marker.repeat(150_000)}"`, { status: 413, code: 'PAYLOAD_TOO_LARGE' }),
  ];
});

const codings: [coding: string, encode: (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['x-gzip', Buffer.from],
  ['identity, GZIP', gzipSync],
  [marker, Buffer.from],
];

export const encodedBodies: Hostile[] = posts.flatMap((way) =>
  codings.map(([coding, encode]) => ({
    what: coding,
    way,
    request: (caller) => ({
      headers: [['Content-ENCODING', coding]],
      body: encode(objectOf(membersOf(way, caller))),
    }),
    status: 400,
    code: 'INVALID_BODY',
    says: 'uncompressed',
  })),
);
