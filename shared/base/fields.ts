import * as z from 'zod/mini';

/** A lone surrogate has no UTF-8 form, and a NUL ends strings in too many programs: both are refused. */
export function isCleanText(value: string): boolean {
  return value.isWellFormed() && !value.includes('\0');
}

export function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) count += 1;
  return count;
}

/** A name or a sentence: 1 to `max` code points on one line, not only white space. */
export function isLine(value: string, max: number): boolean {
  return codePoints(value) <= max && value.trim() !== '' && isCleanText(value) && !/\p{Cc}/u.test(value);
}

/** The same rules as patterns for the JSON Schema, as far as patterns can say them. They list ECMAScript's white space. */
const noNul = '^[^\\u0000]*$';
const notOnlySpace =
  '^[^\\u0000]*[^\\u0000\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff][^\\u0000]*$';

/** Text of at most `max` Unicode code points. `min` 1 also refuses text that is only white space. */
export function text(min: 0 | 1, max: number) {
  const rule =
    min === 0
      ? `must be a string of at most ${max} characters`
      : `must be a string of 1 to ${max} characters, not only white space`;
  // A code point has at most two UTF-16 units, so a text far over the limit is refused without counting.
  const fits = (value: string) =>
    value.length <= 2 * max && codePoints(value) <= max && (min === 0 || value.trim() !== '');
  return z
    .string(rule)
    .check(
      z.refine(fits, rule),
      z.refine(isCleanText, 'must not contain a NUL or a lone surrogate'),
      z.meta({ minLength: min, maxLength: max, pattern: min === 0 ? noNul : notOnlySpace }),
    );
}

export function integer(min: number, max: number) {
  const rule = `must be an integer from ${min} to ${max}`;
  return z.int(rule).check(z.gte(min, rule), z.lte(max, rule));
}

export function decimal(min: number, max: number) {
  const rule = `must be a number from ${min} to ${max}`;
  return z.number(rule).check(z.gte(min, rule), z.lte(max, rule));
}

export const instantRule = 'must be an ISO 8601 time with its zone, as in 2027-01-31T18:00:00Z';

/** Later years have more than four digits, and ISO 8601 writes those in another form. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** An instant as callers send it. `Date.parse` reads it. */
export const instant = z.iso
  .datetime({ offset: true, error: instantRule })
  .check(z.refine((value) => Date.parse(value) <= lastMs, instantRule));

/** A member that may be left out. `null` says the same as leaving it out. */
export function optional<Schema extends z.ZodMiniType>(schema: Schema) {
  return z.optional(
    z.pipe(
      z.nullable(schema),
      z.transform((sent) => sent ?? undefined),
    ),
  );
}

/** A member that is this value where it is left out or `null`. */
export function defaulted<Schema extends z.ZodMiniType>(schema: Schema, value: z.output<Schema>) {
  return z
    .pipe(
      z.optional(z.nullable(schema)),
      z.transform((sent) => sent ?? value),
    )
    .check(z.meta({ default: value }));
}

interface Issue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly keys?: readonly string[];
}

/**
 * One sentence for all that is wrong, naming each field once: `width must be …; unknown member "stpes".`
 * Names that a caller made up are quoted, shortened and stripped of what a terminal or log would act on.
 * @param names of members that the caller knows by another name than the schema's
 */
export function describeIssues(
  issues: readonly Issue[],
  names: Readonly<Record<string, string>> = {},
): string {
  const byField = new Map<string, string>();
  for (const issue of issues) {
    const field = fieldName(issue.path, names);
    if (issue.code === 'unrecognized_keys') {
      for (const key of (issue.keys ?? []).slice(0, 21)) {
        byField.set(
          `${field} ${key}`,
          `unknown member ${quoteName(key)}${field === '' ? '' : ` in ${field}`}`,
        );
      }
    } else if (!byField.has(field)) {
      byField.set(field, `${field === '' ? 'The body' : field} ${issue.message}`);
    }
  }
  const all = [...byField.values()];
  const shown = all.slice(0, 20).join('; ');
  return `${shown}${all.length > 20 ? '; and more' : ''}.`;
}

/** What is wrong with the names of a query: unknown ones, and those sent more than once. */
export function queryProblems(
  query: ReadonlyMap<string, readonly string[]>,
  allowed: readonly string[],
): string[] {
  const problems = [...query].flatMap(([name, sent]) => {
    if (!allowed.includes(name)) return [`unknown query parameter ${quoteName(name)}`];
    return sent.length === 1 ? [] : [`${name} must be sent once`];
  });
  return problems.length > 10 ? [...problems.slice(0, 10), 'and more'] : problems;
}

/** A name from outside, made safe to show. */
export function quoteName(name: string): string {
  const shown = Array.from(name).slice(0, 40).join('');
  const safe = shown.replace(/[^\x20-\x7e]/g, '?').replace(/["\\]/g, '?');
  return `"${safe}"`;
}

function fieldName(path: readonly PropertyKey[], names: Readonly<Record<string, string>>): string {
  return path
    .map((part, i) => {
      if (typeof part === 'number') return `[${part}]`;
      return `${i === 0 ? '' : '.'}${names[String(part)] ?? String(part)}`;
    })
    .join('');
}
