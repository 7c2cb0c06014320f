import { deflateSync, gzipSync } from 'node:zlib';
import { routes } from '../../shared/routes/routes.ts';
import {
  isGenerating,
  marker,
  membersOf,
  objectOf,
  spreadTable,
  takesBody,
  ways,
  type Hostile,
} from './hostile.ts';

type Write = (members: string[]) => string | Buffer;

const withBody = ways.filter(takesBody);
const deep = 200_000;
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const latin1 = (text: string) => Buffer.from(text, 'latin1');
const withMember = (member: string) => (members: string[]) => objectOf([...members, member]);

/** What is no JSON object in UTF-8. The unit tests of `json.ts` hold the finer cases. */
const unreadable: Record<string, Write> = {
  'an object that is cut': (members) => objectOf(members).slice(0, -1),
  'an array of the object': (members) => `[${objectOf(members)}]`,
  'a raw NUL': withMember(`"x":"${marker}\0"`),
  XML: () => `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x>&e;</x>`,
  'a byte order mark': (members) => `\ufeff${objectOf(members)}`,
  'UTF-16': (members) => Buffer.from(objectOf(members), 'utf16le'),
  'Latin-1': (members) => latin1(withMember(`"${marker}":"caf\xe9"`)(members)),
  'a character that is cut': (members) => latin1(`${objectOf(members)}\xe2\x82`),
  'gzip without saying so': (members) => gzipSync(objectOf(members)),
  'deep nesting that is cut': (members) => `${objectOf(members).slice(0, -1)},"x":${'['.repeat(deep)}`,
};

const twice: Record<string, Write> = {
  'its first member twice': ([first = '', ...rest]) => objectOf([first, ...rest, first]),
  'a member twice below much': withMember(`"x":${'{"x":'.repeat(60)}{"y":1,"y":1}${'}'.repeat(60)}`),
};

/** The object is one level of it. Values of members that are known and unknown, and the end of the call's stack. */
const tooDeep: Record<string, Write> = {
  'a level too much': withMember(`"${marker}":${nested(64)}`),
  'objects in lists': withMember(`"prompt":${'[{"x":'.repeat(40)}1${'}]'.repeat(40)}`),
  'six thousand levels': withMember(`"referenceImages":${nested(6000)}`),
  'as many as fit': withMember(`"x":${nested(deep)}`),
  'no object at all': () => nested(65),
};

/** Members that no body has, and what their refusal names. Unit tests hold how any name is told. */
const unknown: Record<string, [member: string, says: string]> = {
  'an unknown member': [`"${marker}":1`, `"${marker}"`],
  'a prototype': ['"__proto__":{"seed":1,"licenseId":"x"}', '"__proto__"'],
  'a name that acts on terminals': [`"\\u001b[2J${marker}\\u009b\\u202e":1`, `"?[2J${marker}??"`],
  'a member as deep as may be': [`"${marker}":${nested(63)}`, `"${marker}"`],
  'many members': [Array.from({ length: 50_000 }, (_, i) => `"${marker}${i}":${i}`).join(), 'and more'],
};

/** Values that a member of a generation does not take, and the name in their refusal. Its unit tests hold the edges. */
const values: Record<string, [field: string, value: string]> = {
  'half a character': ['prompt', `"${marker}\\ud800"`],
  'nesting as deep as may be': ['prompt', `[${nested(60)},"${'[{'.repeat(99)}"]`],
  'a number beyond all numbers': ['seed', '1e400'],
  'an object like an array': ['referenceImages', `{"length":1,"0":{"url":"https://a.test/${marker}"}}`],
};

const codings: Record<string, (text: string) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  'identity, GZIP': gzipSync,
  [marker]: Buffer.from,
};

const invalidBody = { status: 400, code: 'INVALID_BODY' } as const;
const invalidParameters = { status: 400, code: 'INVALID_PARAMETERS' } as const;
const written = (body: Write, way: Hostile['way']): Pick<Hostile, 'request'> => ({
  request: (caller) => ({ body: body(membersOf(way, caller)) }),
});

/** All but the upload of a key, which needs no body. */
const withNecessaryBody = withBody.filter(({ route }) => route !== routes.createUpload);

export const hostileBodies: Hostile[] = [
  ...spreadTable(unreadable, withBody, (way, body) => ({ ...written(body, way), ...invalidBody })),
  ...spreadTable(twice, withBody, (way, body) => ({ ...written(body, way), ...invalidBody, says: 'twice' })),
  ...spreadTable(tooDeep, withBody, (way, body) => ({ ...written(body, way), ...invalidBody, says: 'deep' })),
  ...spreadTable(unknown, withBody, (way, [member, says]) => ({
    ...written(withMember(member), way),
    ...invalidParameters,
    says,
  })),
  ...spreadTable(values, ways.filter(isGenerating), (way, [field, value]) => {
    const body: Write = (members) =>
      objectOf([...members.filter((member) => !member.startsWith(`"${field}"`)), `"${field}":${value}`]);
    return { ...written(body, way), ...invalidParameters, says: field };
  }),
  ...spreadTable({ 'more than 1 MiB': `"${marker.repeat(150_000)}"` }, withBody, (_way, body) => ({
    request: () => ({ body }),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  })),
  ...spreadTable({ nothing: '' }, withNecessaryBody, (_way, body) => ({
    request: () => ({ body }),
    ...invalidBody,
  })),
];

export const encodedBodies: Hostile[] = spreadTable(codings, withBody, (way, encode, coding) => ({
  request: (caller) => ({
    headers: [['Content-ENCODING', coding]],
    body: encode(objectOf(membersOf(way, caller))),
  }),
  ...invalidBody,
  says: 'uncompressed',
}));

/** Headers with which a good body is read as it is without them. */
const harmless: Record<string, [string, string][]> = {
  'none of them': [],
  'identity as its encoding': [['Content-Encoding', 'Identity']],
  'two types': [
    ['Content-Type', 'text/plain'],
    ['Content-Type', 'image/png'],
  ],
  'a charset': [['Content-Type', 'application/json; charset=utf-16']],
  'no type at all': [['Content-Type', '']],
};

/** A good generation reaches an identity that has no model, and a good change a key that is not there. */
function acceptedBy({ route }: Hostile['way']): Pick<Hostile, 'status' | 'code'> {
  if (route.streams) return { status: 503, code: 'IDENTITY_UNAVAILABLE' };
  if (route === routes.updateKey) return { status: 404, code: 'KEY_NOT_FOUND' };
  return { status: route === routes.updateAccount ? 200 : 201 };
}

export const goodBodies: Hostile[] = [
  ...spreadTable(harmless, withBody, (way, headers) => ({
    request: () => ({ headers }),
    ...acceptedBy(way),
  })),
  ...spreadTable(
    { 'no body at all': '' },
    ways.filter(({ route, by }) => route === routes.createUpload && by === 'key'),
    (_way, body) => ({ request: () => ({ body }), status: 201 }),
  ),
];
