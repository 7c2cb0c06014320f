import * as fc from 'fast-check';
import type { Identity } from '../../shared/domain/identity.ts';
import type { Catalog, SentBody, Tier, Written } from './body-model.ts';
import { literal, literals, object, references, text, texts, values } from './body-values.ts';

/** Bodies for POST /generate: right ones, and those with one or several things wrong, mostly just beside an edge. */
export interface BodyCase {
  sent: SentBody;
  tier: Tier;
  /** How many faults were put in; a later one may undo an earlier. */
  faults: number;
}

export const catalog: Catalog = {
  idn_plain: { covered: true, productPhotos: false },
  idn_product: { covered: true, productPhotos: true },
  idn_foreign: { covered: false, productPhotos: true },
};

/** The catalog as the service stores it. Without a model, so that nothing is ever painted or charged. */
export const identities: Identity[] = Object.entries(catalog).map(
  ([identityId, { covered, productPhotos }]) => ({
    identityId,
    name: 'Model',
    slug: 'model',
    description: '',
    catalog: covered ? 'founding' : 'specialist',
    productPhotos,
    model: null,
  }),
);

const one = <T>(items: readonly T[]) => fc.constantFrom(...items);
const anyTier = fc.constantFrom<Tier>('starter', 'standard', 'pro', 'enterprise');
const rightItems = (min: number, max: number) =>
  fc.array(one(references.right), { minLength: min, maxLength: max }).map((items): Written => ({ items }));
const identityOf = (isProduct: boolean) => text(isProduct ? 'idn_product' : 'idn_plain');
const optional = Object.keys(values).filter((name) => name !== 'prompt');

type Members = [string, Written][];

/** Every parameter right, each there or not, in any order. */
const rightMembers = fc
  .tuple(anyTier, fc.boolean(), fc.subarray(optional), rightItems(0, 4), fc.boolean())
  .chain(([tier, isProduct, names, items, isExact]) => {
    const right = ['prompt', ...names].map((name) => one(values[name]!.right).map((of) => [name, of]));
    const pairs = fc.tuple(...right) as unknown as fc.Arbitrary<Members>;
    return pairs.chain((given) => {
      const members: Members = [['identityId', identityOf(isProduct)], ...given];
      if (isProduct) members.push(['referenceImages', items]);
      const hasItems = isProduct && 'items' in items && items.items.length > 0;
      if (hasItems && isExact) put(members, 'referenceMode', text('exact_product'));
      return fc
        .shuffledSubarray(members, { minLength: members.length })
        .map((all) => ({ tier, members: all }));
    });
  });

function put(members: Members, name: string, value: Written | null): void {
  const at = members.findIndex(([known]) => known === name);
  if (at !== -1) members.splice(at, 1);
  if (value !== null) members.push([name, value]);
}

type Fault = (sent: SentBody) => SentBody;

const inMembers =
  (change: (members: Members) => void): Fault =>
  (sent) => {
    if (!('members' in sent.value)) return sent;
    const members = [...sent.value.members];
    change(members);
    return { ...sent, value: { members } };
  };
const setting = (name: string, value: Written | null) => inMembers((members) => put(members, name, value));
const unknown = [
  'stpes',
  'Width',
  'num_outputs',
  'licenseId',
  '__proto__',
  'constructor',
  'toString',
  '',
  'a:b',
  '1',
];
const otherTypes = [
  ...literals('null', 'true', '0', '1e400', '-1e400'),
  text('30'),
  { items: [] },
  object({}),
  { items: [literal('1024')] },
];
const noJson = [
  'NaN',
  'undefined',
  'True',
  '+1',
  '01',
  '.5',
  '1.',
  '1e',
  '0x10',
  "'a'",
  '"\\x"',
  '"a\nb"',
  '',
  '1 2',
];
const noIdentity = [
  null,
  ...texts('', 'idn_none', 'idn_foreign', 'constructor', 'IDN_PLAIN', 'x'.repeat(5000)),
];
const beyondTier = { numOutputs: ['2', '4', '5', '1e300'], width: ['1088', '2048', '2112', '1e300'] };

const fault: fc.Arbitrary<Fault> = fc.oneof(
  {
    weight: 12,
    arbitrary: one(Object.entries(values)).chain(([name, { wrong }]) =>
      one(wrong).map((of) => setting(name, of)),
    ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(one([...Object.keys(values), 'referenceImages']), one(otherTypes))
      .map(([name, of]) => setting(name, of)),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(one(unknown), one([...otherTypes, object({ identityId: text('idn_plain') })]))
      .map(([name, of]) => setting(name, of)),
  },
  {
    weight: 3,
    arbitrary: one([...noIdentity, ...otherTypes]).map((of) => setting('identityId', of)),
  },
  {
    weight: 8,
    arbitrary: fc
      .tuple(rightItems(0, 3), one(references.wrong), fc.nat(3))
      .map(([right, wrong, at]) =>
        setting('referenceImages', { items: ('items' in right ? right.items : []).toSpliced(at, 0, wrong) }),
      ),
  },
  {
    weight: 3,
    arbitrary: fc.oneof(
      fc.oneof(rightItems(1, 2), rightItems(4, 5)).map((items) => setting('referenceImages', items)),
      fc.constantFrom<Written | null>(null, { items: [] }).map((items) =>
        inMembers((members) => {
          put(members, 'referenceImages', items);
          put(members, 'referenceMode', text('exact_product'));
        }),
      ),
    ),
  },
  {
    weight: 5,
    arbitrary: fc.oneof(
      one(beyondTier.numOutputs).map((of) => setting('numOutputs', literal(of))),
      fc
        .tuple(fc.constantFrom('width', 'height'), one(beyondTier.width))
        .map(([name, of]) => setting(name, literal(of))),
    ),
  },
  { weight: 1, arbitrary: fc.constant(setting('prompt', null)) },
);

/** The same member again, spelled alike: at the top, or in an object in it. */
const twice: Fault[] = [
  inMembers((members) => members.push(members[0]!)),
  inMembers((members) => members.push([members[0]![0], text('idn_product')])),
  setting('x', {
    items: [
      {
        members: [
          ['a', literal('1')],
          ['b', literal('2')],
          ['a', literal('1')],
        ],
      },
    ],
  }),
];
const maxBytes = 1024 * 1024;

/** What is wrong with the text before anything in it is looked at, or is at its edge. */
const textFault: fc.Arbitrary<Fault> = fc.oneof(
  one(['byte order mark', 'comma', 'brace', 'twice', 'cut', 'headless', 'no-break space'] as const).map(
    (damage): Fault =>
      (sent) => ({ ...sent, damage }),
  ),
  one(noJson).map((of) => setting('seed', literal(of))),
  one(twice),
  one(['gzip', 'br', 'identity', 'identity, gzip']).map((contentEncoding): Fault => (sent) => ({
    ...sent,
    contentEncoding,
    bytes: null,
  })),
  one([literal('null'), text('{}'), literal('12'), { items: [object({})] }]).map(
    (value): Fault =>
      (sent) => ({ ...sent, value }),
  ),
  {
    weight: 1,
    arbitrary: one([maxBytes, maxBytes + 1]).map((bytes): Fault => (sent) => ({
      ...sent,
      bytes,
      contentEncoding: null,
    })),
  },
);

const faults = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Fault[]>([]) },
  {
    weight: 40,
    arbitrary: fc.tuple(fc.oneof({ weight: 6, arbitrary: fault }, { weight: 1, arbitrary: textFault })),
  },
  { weight: 30, arbitrary: fc.array(fault, { minLength: 2, maxLength: 5 }) },
  { weight: 3, arbitrary: fc.tuple(fault, textFault) },
);

export const anyBodyCase: fc.Arbitrary<BodyCase> = fc
  .tuple(rightMembers, fc.constantFrom('plain', 'spaced', 'escaped'), faults)
  .map(([{ tier, members }, style, changes]) => {
    const right: SentBody = { value: { members }, style, damage: 'none', bytes: null, contentEncoding: null };
    return { tier, faults: changes.length, sent: changes.reduce((sent, change) => change(sent), right) };
  });
