import { isCleanText, isLine, quoteName } from '../../shared/base/fields.ts';
import { fingerprintApiKey, isApiKey } from '../../shared/keys/api-key.ts';
import { isKeyId } from '../../shared/base/ids.ts';
import { isId, readRequestId } from '../../shared/base/ids.ts';
import { usageFailure } from './failure.ts';

/*
 * What operands and options may be. Each function takes the name that the value goes by and makes commander's parser
 * for it; a value that is wrong ends the command with exit code 2 before anything is looked up.
 */
type Parser<T> = (text: string) => T;

function refuse(name: string, rule: string, text: string): never {
  throw usageFailure(`${name} must be ${rule}, not ${quoteName(text)}.`);
}

/** @param read null or undefined for a text that breaks the rule */
function kind<T>(rule: string, read: (text: string) => T | null | undefined) {
  return (name: string): Parser<T> =>
    (text) =>
      read(text) ?? refuse(name, rule, text);
}

/** Text that is taken as it is. */
const textThat = (rule: string, fits: (text: string) => boolean) =>
  kind(rule, (text) => (fits(text) ? text : null));

export const id = textThat('an id (letters, digits, "_" and "-", at most 64 characters)', isId);

/** An account: its Cognito sub, or its e-mail address. */
export const account = textThat("an account's Cognito sub or its e-mail address", (text) =>
  text.includes('@') ? /^[^\s@]+@[^\s@]+$/u.test(text) && isLine(text, 254) : isId(text),
);

/** Ids of an option that may be repeated or take several values. */
export function ids(name: string): (text: string, before: unknown) => string[] {
  const one = id(name);
  return (text, before) => [...new Set([...(Array.isArray(before) ? before : []), one(text)])];
}

/** The values of an option that may be repeated, in their order. */
export function repeated<T>(kindOfOne: (name: string) => Parser<T>) {
  return (name: string) =>
    (text: string, before: T[] = []) => [...before, kindOfOne(name)(text)];
}

const isIdOfKey = textThat("a key's id (key_ and 32 hexadecimal digits)", isKeyId);

export function keyId(name: string): Parser<string> {
  return (text) => {
    if (!isApiKey(text)) return isIdOfKey(name)(text);
    throw usageFailure(
      `${name} must be a key's id, not the key itself: ${fingerprintApiKey(text).keyId} is the id of this one.`,
    );
  };
}

export const requestId = kind("a request's id (a UUID, version 7)", readRequestId);

export const wholeNumber = (min: number, max: number) =>
  kind(`a whole number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : null;
  });

/** A number with at most six decimal places. */
export const decimal = (min: number, max: number) =>
  kind(`a number from ${min} to ${max}`, (text) => {
    const value = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : null;
  });

/** The score from which a picture is refused for a category, as `nsfw=0.95`. */
export const threshold = kind(
  'a category in small letters and a score above 0 and up to 1 (nsfw=0.95)',
  (text): [string, number] | null => {
    const [, category = '', score] = /^([a-z][a-z0-9-]{0,39})=(1|0\.\d{1,4})$/.exec(text) ?? [];
    return Number(score) > 0 ? [category, Number(score)] : null;
  },
);

export const oneOf = <T extends string>(choices: readonly T[]) =>
  kind(`one of ${choices.join(', ')}`, (text) => choices.find((choice) => choice === text));

/** Text of at most so many Unicode code points that is not only white space and holds no line break. */
export const line = (max: number) =>
  textThat(`1 to ${max} characters on one line`, (text) => isLine(text, max));

/** A name as addresses have it. */
export const slug = textThat(
  'lower-case words and digits joined by "-", at most 64 characters',
  (text) => text.length <= 64 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text),
);

/** A size that every plan may have. */
export const size = kind(
  'a width and a height in pixels, multiples of 64 from 512 to 1024 (1024x768)',
  (text) => {
    const [width = 0, height = 0] = /^(\d{3,4})x(\d{3,4})$/.exec(text)?.slice(1).map(Number) ?? [];
    const isSide = (side: number) => side % 64 === 0 && side >= 512 && side <= 1024;
    return isSide(width) && isSide(height) ? { width, height } : null;
  },
);

/** A day as ISO 8601 has it. */
export const day = kind('a day (2026-11-30)', (text) =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && parseIsoTime(text) !== null ? text : null,
);

/** Any text that is not empty; AWS checks the rest. */
export const nonEmpty = textThat('something', (text) => text.trim() !== '');

export const region = textThat('an AWS region such as eu-west-1', (text) =>
  /^[a-z]+(-[a-z0-9]+)+$/.test(text),
);

/** Key of an object in the bucket. */
export const objectKey = textThat(
  'the key of an object in the bucket, without "s3://" and the bucket\'s name',
  (text) =>
    Buffer.byteLength(text) <= 1024 && isCleanText(text) && !/^(\/|s3:)/.test(text) && text.trim() !== '',
);

/** SHA-256 of a file, in lower-case hex. */
export const sha256 = kind('a SHA-256 (64 hexadecimal digits)', (text) =>
  /^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : null,
);

/** A JSON object; numbers beyond the safe integers are refused, because they would change when stored. */
export const jsonObject = kind('a JSON object', (text): Record<string, unknown> | null => {
  let value: unknown;
  try {
    value = JSON.parse(text, (_, member: unknown) => {
      if (typeof member === 'number' && !(Math.abs(member) <= Number.MAX_SAFE_INTEGER)) throw new Error();
      return member;
    });
  } catch {
    return null;
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Record<string, unknown>) : null;
});

const timeRule =
  'a real date (2026-11-30, which is midnight UTC) or time (2026-11-30T09:00:00Z, or +01:00 for Z) since 1970';

/** ISO 8601 to milliseconds since 1970. A time without an offset is refused, because its time zone would be a guess. */
export const time = kind(timeRule, parseIsoTime);

export function futureTime(name: string): Parser<number> {
  return (text) => {
    const ms = time(name)(text);
    return ms > Date.now() ? ms : refuse(name, 'in the future', text);
  };
}

/** A time or `never`; commander does not allow a parser to return null. */
export const timeOrNever = kind(`"never" or ${timeRule}`, (text): number | 'never' | null =>
  text === 'never' ? text : parseIsoTime(text),
);

const isoShape =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?(?:Z|[+-](\d{2}):(\d{2})))?$/;

/** Strict, because the language's own parser turns February 30th into March 2nd. */
function parseIsoTime(text: string): number | null {
  const parts = isoShape
    .exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return null;
  const [year = 0, month = 0, dayOfMonth = 0, hour = 0, minute = 0, second = 0, ...offset] = parts;
  const [offsetHour = 0, offsetMinute = 0] = offset;
  const isDate =
    month >= 1 &&
    month <= 12 &&
    dayOfMonth >= 1 &&
    dayOfMonth <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isTime = hour <= 23 && minute <= 59 && second <= 59 && offsetHour <= 14 && offsetMinute <= 59;
  const ms = isDate && isTime ? Date.parse(text) : -1;
  return ms >= 0 ? ms : null;
}

export interface Month {
  /** 2026-11. */
  name: string;
  /** UTC, milliseconds since 1970; the end is the next month's start. */
  startMs: number;
  endMs: number;
}

export const month = kind('a month (2026-11)', (text): Month | null => {
  const [, year, number] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined) return null;
  const [startMs, endMs] = [0, 1].map((more) => Date.UTC(Number(year), Number(number) - 1 + more)) as [
    number,
    number,
  ];
  return { name: text, startMs, endMs };
});
