import { ServiceError } from '../base/errors.ts';

const strings = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
const numbers = /-?[0-9][0-9.eE+-]*/g;

/** JSON.parse reads this as Infinity. No field accepts that, so the refusal names the rule of the field. */
const tooLarge = '1e999';

/** Bodies that mean something have half a dozen levels. What reads a value later may recurse, and would run out of stack. */
const maxDepth = 64;
/** Bodies that mean something have some dozens. 1.4 million, in 4.25 MiB, took 400 MB and a second. */
const maxValues = 100_000;

/**
 * Reads JSON (RFC 8259) as strictly as I-JSON (RFC 7493) asks: UTF-8, no member twice in one object, and no fraction
 * that is rounded to an integer. Nothing here recurses, and what is nested too deep is refused, so that nothing later can fail by it.
 * @throws INVALID_BODY. Its sentence quotes nothing of the text, which may hold a prompt.
 */
export function parseJson(text: string): unknown {
  if (text.startsWith('\ufeff')) throw invalid('must be UTF-8 without a byte order mark');
  // Bytes that are not UTF-8 arrive as this character, so the two look the same.
  const garbled = 'has bytes that are not UTF-8, or U+FFFD: send UTF-8, and that character as \\ufffd';
  if (text.includes('\ufffd')) throw invalid(garbled);
  const bare = text.replace(strings, '');
  const { depth, values } = sizeOf(bare);
  if (depth > maxDepth) throw invalid(`is nested more than ${maxDepth} deep`);
  if (values > maxValues) throw invalid(`has more than ${maxValues.toLocaleString('en-US')} values`);
  const value = parse(text);
  // Outside of strings each colon belongs to a member. The parser keeps only the last of two members with one name.
  if (bare.split(':').length - 1 !== countMembers(value)) {
    throw invalid('has a member twice in one object: send each once');
  }
  return bare.match(numbers)?.some(isRounded) ? parse(withoutRounding(text)) : value;
}

/** A value as JSON that is the same whatever the order of members, at any depth. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text.
    throw invalid('is not valid JSON: send one JSON object');
  }
}

/** How many objects and arrays stand in each other, and how many values there are at most, in JSON without its strings. */
function sizeOf(bare: string): { depth: number; values: number } {
  let [depth, deepest, separators] = [0, 0, 0];
  for (const character of bare) {
    const opens = character === '{' || character === '[';
    if (opens) deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth -= 1;
    if (opens || character === ',') separators += 1;
  }
  return { depth: deepest, values: separators + 1 };
}

function countMembers(value: unknown): number {
  let members = 0;
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const contents = Object.values(next);
    if (!Array.isArray(next)) members += contents.length;
    for (const content of contents) waiting.push(content);
  }
  return members;
}

function withoutRounding(text: string): string {
  const lexemes = new RegExp(`${strings.source}|${numbers.source}`, 'g');
  return text.replace(lexemes, (lexeme) =>
    !lexeme.startsWith('"') && isRounded(lexeme) ? tooLarge : lexeme,
  );
}

/** Whether a number has a fraction that is lost when it is read, as in 1.00000000000000001. */
function isRounded(number: string): boolean {
  if (/^-?[0-9]+$/.test(number) || !Number.isInteger(Number(number))) return false;
  const [decimal = '', exponent = '0'] = number.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = decimal.split('.');
  const digits = whole + fraction;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const decimalPlaces = end - whole.length - Number(exponent);
  return end > 0 && decimalPlaces > 0;
}

function invalid(what: string): ServiceError {
  return new ServiceError('INVALID_BODY', `The body ${what}.`);
}
