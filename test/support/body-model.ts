/**
 * What the specification and the decisions say of the body of POST /generate, written from these texts alone and on
 * purpose without the service's code: a second opinion for property tests.
 */

/** A JSON value as it is written: numbers in their spelling, members in their order, each as often as it is there. */
export type Written =
  | { literal: string }
  | { text: string }
  | { items: Written[] }
  | { members: [name: string, value: Written][] };

export interface SentBody {
  value: Written;
  style: 'plain' | 'spaced' | 'escaped';
  /** What was put around the JSON, or cut off, so that it is none any more. */
  damage: 'none' | 'byte order mark' | 'comma' | 'brace' | 'twice' | 'cut' | 'headless' | 'no-break space';
  /** Filled up with spaces to so many bytes; null is as long as it is. */
  bytes: number | null;
  contentEncoding: string | null;
}

export type Tier = 'starter' | 'standard' | 'pro' | 'enterprise';

/** The identities that there are, by id, as far as the rules look at them. */
export type Catalog = Record<string, { covered: boolean; productPhotos: boolean }>;

export interface Verdict {
  /** Null: no rule refuses it. */
  code: string | null;
  /** What the sentence must name. */
  named: string[];
  /** How many reference images are to be fetched, of a body whose parameters are right. */
  references: number;
}

const damages: Record<SentBody['damage'], (json: string) => string> = {
  none: (json) => json,
  'byte order mark': (json) => `\ufeff${json}`,
  comma: (json) => `${json},`,
  brace: (json) => `${json}}`,
  twice: (json) => `${json}\n${json}`,
  cut: (json) => json.trim().slice(0, -1),
  headless: (json) => json.trim().slice(1),
  'no-break space': (json) => `\u00a0${json}`,
};

/** The text that is sent. */
export function textOf({ value, style, damage, bytes }: SentBody): string {
  const text = damages[damage](write(value, style));
  return bytes === null ? text : text + ' '.repeat(bytes - Buffer.byteLength(text));
}

function write(value: Written, style: SentBody['style']): string {
  const space = style === 'spaced' ? ' \r\n\t' : '';
  const join = (parts: string[]) => parts.join(`${space},${space}`);
  if ('literal' in value) return value.literal;
  if ('text' in value) return style === 'escaped' ? escaped(value.text) : JSON.stringify(value.text);
  if ('items' in value) return `[${space}${join(value.items.map((item) => write(item, style)))}${space}]`;
  const members = value.members.map(
    ([name, of]) => `${write({ text: name }, style)}${space}:${space}${write(of, style)}`,
  );
  return `${space}{${space}${join(members)}${space}}${space}`;
}

function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
  return `"${units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('')}"`;
}

const maxBytes = 1024 * 1024;

/** The first failure in the decided order, once key and rate limit were passed. */
export function verdictOf(sent: SentBody, tier: Tier, catalog: Catalog): Verdict {
  const refused = (code: string, named: string[] = []): Verdict => ({ code, named, references: 0 });
  if (Buffer.byteLength(textOf(sent)) > maxBytes) return refused('PAYLOAD_TOO_LARGE');
  const { value } = sent;
  if (!isReadable(sent) || !('members' in value)) return refused('INVALID_BODY');
  const body = new Map(value.members);
  const identityId = body.get('identityId');
  if (identityId === undefined || isLiteral(identityId, 'null') || textIn(identityId) === '') {
    return refused('MISSING_IDENTITY', ['identityId']);
  }
  const id = textIn(identityId);
  const identity = id !== null && Object.hasOwn(catalog, id) ? catalog[id] : undefined;
  if (identity === undefined) return refused('IDENTITY_NOT_FOUND', ['identityId']);
  if (!identity.covered) return refused('IDENTITY_MISMATCH');
  const wrong = wrongParameters(body);
  if (wrong.length > 0) return refused('INVALID_PARAMETERS', wrong);
  const references = itemsIn(body.get('referenceImages'))?.length ?? 0;
  if (references > 0 && !identity.productPhotos) return refused('INVALID_PARAMETERS', ['referenceImages']);
  if (references === 0 && textIn(body.get('referenceMode')) === 'exact_product') {
    return refused('INVALID_PARAMETERS', ['referenceMode', 'referenceImages']);
  }
  const beyond = beyondTier(body, tier);
  return { code: beyond.length > 0 ? 'TIER_LIMIT' : null, named: beyond, references };
}

/** RFC 8259 and the decisions' own: UTF-8 that was not replaced, no compression, each member once. */
function isReadable({ value, style, damage, contentEncoding }: SentBody): boolean {
  const isPlain = contentEncoding === null || contentEncoding === 'identity';
  return isPlain && damage === 'none' && isStrict(value, style);
}

const jsonLiteral = /^(null|true|false|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?)$/;

function isStrict(value: Written, style: SentBody['style']): boolean {
  if ('literal' in value) return jsonLiteral.test(value.literal);
  if ('text' in value) return style === 'escaped' || !value.text.includes('\ufffd');
  if ('items' in value) return value.items.every((item) => isStrict(item, style));
  const names = value.members.map(([name]) => name);
  return (
    new Set(names).size === names.length &&
    value.members.every(([name, of]) => isStrict({ text: name }, style) && isStrict(of, style))
  );
}

type Rule = (value: Written) => boolean;

const size: Rule = (value) => isWhole(value) && isAtLeast(value, 512) && isMultipleOf64(value);

/** Sections 4.1 and 8.3, with the decisions' ranges where they have none. */
const rules: Record<string, Rule> = {
  prompt: (value) => isText(value, 1000) && textIn(value)!.trim() !== '',
  negativePrompt: (value) => isText(value, 500),
  seed: (value) => isWhole(value) && isAtLeast(value, 0) && isAtMost(value, 4_294_967_295),
  numInferenceSteps: (value) => isWhole(value) && isAtLeast(value, 20) && isAtMost(value, 50),
  guidanceScale: (value) => isAtLeast(value, 1) && isAtMost(value, 20),
  numOutputs: (value) => isWhole(value) && isAtLeast(value, 1),
  width: size,
  height: size,
  outputFormat: (value) => ['png', 'webp', 'jpeg'].includes(textIn(value) ?? ''),
  referenceMode: (value) => ['exact_product', 'reference'].includes(textIn(value) ?? ''),
  preserveBranding: (value) => isLiteral(value, 'true') || isLiteral(value, 'false'),
};

export const parameterNames = [...Object.keys(rules), 'referenceImages'];

function wrongParameters(body: Map<string, Written>): string[] {
  const named: string[] = body.has('prompt') ? [] : ['prompt'];
  for (const [name, value] of body) {
    const rule = rules[name];
    if (name === 'referenceImages') named.push(...wrongReferences(value));
    else if (name !== 'identityId' && !(Object.hasOwn(rules, name) && rule?.(value))) {
      named.push(parameterNames.includes(name) ? name : `"${name}"`);
    }
  }
  return named;
}

function wrongReferences(value: Written): string[] {
  const items = itemsIn(value);
  // The items of a list that is too long may be named beside it.
  if (items === null || items.length > 4) return ['referenceImages'];
  return items.flatMap((item, i) => {
    const place = `referenceImages[${i}]`;
    if (!('members' in item)) return [place];
    const unknown = item.members.filter(([name]) => name !== 'url' && name !== 'uploadId');
    const named = unknown.map(([name]) => `"${name}" in ${place}`);
    for (const [name, of] of item.members) {
      const isRight = name === 'url' ? isHttpsUrl(of) : isText(of, 100) && textIn(of)!.trim() !== '';
      if ((name === 'url' || name === 'uploadId') && !isRight) named.push(`${place}.${name}`);
    }
    if (named.length > 0) return named;
    return item.members.length === 1 ? [] : [place];
  });
}

/** HTTPS on its own port, by a host's name; whoever needs a password or an address does not mean a picture. */
function isHttpsUrl(value: Written): boolean {
  const shape = /^https:\/\/([a-z0-9-]+\.)+[a-z][a-z0-9-]*\.?([/?#][^\s\\]*)?$/i;
  return isText(value, 2048) && shape.test(textIn(value)!);
}

const limits: Record<Tier, { outputs: number; sidePx: number }> = {
  starter: { outputs: 1, sidePx: 1024 },
  standard: { outputs: 4, sidePx: 2048 },
  pro: { outputs: 4, sidePx: 2048 },
  enterprise: { outputs: 4, sidePx: 2048 },
};

function beyondTier(body: Map<string, Written>, tier: Tier): string[] {
  const { outputs, sidePx } = limits[tier];
  const most: Record<string, number> = { numOutputs: outputs, width: sidePx, height: sidePx };
  return Object.keys(most).filter((name) => body.has(name) && !isAtMost(body.get(name)!, most[name]!));
}

function isLiteral(value: Written | undefined, literal: string): boolean {
  return value !== undefined && 'literal' in value && value.literal === literal;
}

function textIn(value: Written | undefined): string | null {
  return value !== undefined && 'text' in value ? value.text : null;
}

function itemsIn(value: Written | undefined): Written[] | null {
  return value !== undefined && 'items' in value ? value.items : null;
}

/** Lengths count code points; a NUL or half of a surrogate pair is no text. */
function isText(value: Written, max: number): boolean {
  const text = textIn(value);
  return text !== null && [...text].length <= max && !/\0|\p{Surrogate}/u.test(text);
}

/** A decimal number, exactly: digits × 10^exponent. */
interface Exact {
  digits: bigint;
  exponent: number;
}

function numberIn(value: Written): Exact | null {
  const parts = 'literal' in value ? /^(-?\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(value.literal) : null;
  // What no double holds is no number that two programs agree on (RFC 7493, section 2.2).
  if (parts === null || !Number.isFinite(Number(parts[0]))) return null;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The number and `other`, both multiplied until neither has a fraction. */
function scaled(value: Written, other: number): { number: bigint; other: bigint; one: bigint } | null {
  const exact = numberIn(value);
  if (exact === null) return null;
  const one = 10n ** BigInt(Math.max(0, -exact.exponent));
  return {
    number: exact.digits * 10n ** BigInt(Math.max(0, exact.exponent)),
    other: BigInt(other) * one,
    one,
  };
}

function isAtLeast(value: Written, min: number): boolean {
  const both = scaled(value, min);
  return both !== null && both.number >= both.other;
}

function isAtMost(value: Written, max: number): boolean {
  const both = scaled(value, max);
  return both !== null && both.number <= both.other;
}

function isWhole(value: Written): boolean {
  const both = scaled(value, 0);
  return both !== null && both.number % both.one === 0n;
}

function isMultipleOf64(value: Written): boolean {
  const both = scaled(value, 64);
  return both !== null && both.number % both.other === 0n;
}
