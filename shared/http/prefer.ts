import { withoutBlanks } from '../base/words.ts';

/**
 * Whether a request asks to be answered before its work is done, by its Prefer headers (RFC 7240, section 2), as
 * `Prefer: respond-async, wait=10; strict, note="a, b"`. Unknown preferences and all parameters are ignored: a
 * preference is a wish, and nobody is refused for one.
 * @param values every value that the header was sent with
 */
export function prefersAsync(values: readonly string[] = []): boolean {
  // An empty value is none. With any other it is not the preference of that name.
  return values.flatMap(preferencesIn).some((text) => /^respond-async([ \t]*=[ \t]*("")?)?$/i.test(text));
}

/** The preferences of a list without their parameters. A quoted value may hold commas and semicolons. */
function preferencesIn(list: string): string[] {
  const found = [''];
  let isQuoted = false;
  let isParameter = false;
  for (let i = 0; i < list.length; i++) {
    const char = list[i]!;
    if (isQuoted && char === '\\') i += 1;
    else if (char === '"') isQuoted = !isQuoted;
    if (!isQuoted && char === ',') {
      found.push('');
      isParameter = false;
    } else if (!isQuoted && char === ';') isParameter = true;
    else if (!isParameter) found[found.length - 1] += char;
  }
  return found.map(withoutBlanks);
}
