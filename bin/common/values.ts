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

export function id(name: string): Parser<string> {
  const rule = 'an id (letters, digits, "_" and "-", at most 64 characters)';
  return (text) => (isId(text) ? text : refuse(name, rule, text));
}

/** An account: its Cognito sub, or its e-mail address. */
export function account(name: string): Parser<string> {
  const rule = "an account's Cognito sub or its e-mail address";
  return (text) => {
    const fits = text.includes('@') ? /^[^\s@]+@[^\s@]+$/u.test(text) && isLine(text, 254) : isId(text);
    return fits ? text : refuse(name, rule, text);
  };
}

/** Ids of an option that may be repeated or take several values. */
export function ids(name: string): (text: string, before: unknown) => string[] {
  const one = id(name);
  return (text, before) => [...new Set([...(Array.isArray(before) ? before : []), one(text)])];
}

/** The values of an option that may be repeated, in their order. */
export function repeated<T>(one: Parser<T>): (text: string, before?: T[]) => T[] {
  return (text, before = []) => [...before, one(text)];
}

export function keyId(name: string): Parser<string> {
  return (text) => {
    if (isApiKey(text)) {
      throw usageFailure(
        `${name} must be a key's id, not the key itself: ${fingerprintApiKey(text).keyId} is the id of this one.`,
      );
    }
    return isKeyId(text) ? text : refuse(name, "a key's id (key_ and 32 hexadecimal digits)", text);
  };
}

export function requestId(name: string): Parser<string> {
  return (text) => readRequestId(text) ?? refuse(name, "a request's id (a UUID, version 7)", text);
}

export function wholeNumber(name: string, min: number, max: number): Parser<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : -1;
    return value >= min && value <= max ? value : refuse(name, `a whole number from ${min} to ${max}`, text);
  };
}

export function oneOf<T extends string>(name: string, choices: readonly T[]): Parser<T> {
  return (text) =>
    choices.find((choice) => choice === text) ?? refuse(name, `one of ${choices.join(', ')}`, text);
}

/** Text of `min` to `max` Unicode code points that is not only white space and holds no line break. */
export function line(name: string, max: number): Parser<string> {
  return (text) => (isLine(text, max) ? text : refuse(name, `1 to ${max} characters on one line`, text));
}

/** A name as addresses have it. */
export function slug(name: string): Parser<string> {
  const rule = 'lower-case words and digits joined by "-", at most 64 characters';
  return (text) =>
    text.length <= 64 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text) ? text : refuse(name, rule, text);
}

/** Any text that is not empty; AWS checks the rest. */
export function nonEmpty(name: string): Parser<string> {
  return (text) => (text.trim() === '' ? refuse(name, 'something', text) : text);
}

export function region(name: string): Parser<string> {
  return (text) =>
    /^[a-z]+(-[a-z0-9]+)+$/.test(text) ? text : refuse(name, 'an AWS region such as eu-west-1', text);
}

/** Key of an object in the bucket. */
export function objectKey(name: string): Parser<string> {
  const rule = 'the key of an object in the bucket, without "s3://" and the bucket\'s name';
  return (text) => {
    const fits = Buffer.byteLength(text) <= 1024 && isCleanText(text) && !/^(\/|s3:)/.test(text);
    return fits && text.trim() !== '' ? text : refuse(name, rule, text);
  };
}

/** SHA-256 of a file, in lower-case hex. */
export function sha256(name: string): Parser<string> {
  const rule = 'a SHA-256 (64 hexadecimal digits)';
  return (text) => (/^[0-9a-f]{64}$/i.test(text) ? text.toLowerCase() : refuse(name, rule, text));
}

/** A JSON object; numbers beyond the safe integers are refused, because they would change when stored. */
export function jsonObject(name: string): Parser<Record<string, unknown>> {
  return (text) => {
    let value: unknown;
    try {
      value = JSON.parse(text, (_, member: unknown) => {
        if (typeof member === 'number' && !(Math.abs(member) <= Number.MAX_SAFE_INTEGER)) throw new Error();
        return member;
      });
    } catch {
      value = null;
    }
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : refuse(name, 'a JSON object', text);
  };
}

const timeRule =
  'a real date (2026-11-30, which is midnight UTC) or time (2026-11-30T09:00:00Z, or +01:00 for Z) since 1970';

/** ISO 8601 to milliseconds since 1970. A time without an offset is refused, because its time zone would be a guess. */
export function time(name: string): Parser<number> {
  return (text) => parseIsoTime(text) ?? refuse(name, timeRule, text);
}

export function futureTime(name: string): Parser<number> {
  return (text) => {
    const ms = time(name)(text);
    return ms > Date.now() ? ms : refuse(name, 'in the future', text);
  };
}

/** A time or `never`; commander does not allow a parser to return null. */
export function timeOrNever(name: string): Parser<number | 'never'> {
  return (text) =>
    text === 'never' ? text : (parseIsoTime(text) ?? refuse(name, `"never" or ${timeRule}`, text));
}

const isoShape =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,3})?)?(?:Z|[+-](\d{2}):(\d{2})))?$/;

/** Strict, because the language's own parser turns February 30th into March 2nd. */
function parseIsoTime(text: string): number | null {
  const parts = isoShape
    .exec(text)
    ?.slice(1)
    .map((part) => Number(part ?? 0));
  if (parts === undefined) return null;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, ...offset] = parts;
  const [offsetHour = 0, offsetMinute = 0] = offset;
  const isDate =
    month >= 1 && month <= 12 && day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isTime = hour <= 23 && minute <= 59 && second <= 59 && offsetHour <= 14 && offsetMinute <= 59;
  const ms = isDate && isTime ? Date.parse(text) : -1;
  return ms >= 0 ? ms : null;
}
