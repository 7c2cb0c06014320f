import { withoutBlanks } from '../base/words.ts';
import { maxWaitSeconds } from '../routes/limits.ts';
import { wantsEvents } from './event-stream.ts';
import type { ApiRequest } from './request.ts';

/** How a caller prefers a request to be answered that runs by itself. */
export interface AsyncPreference {
  /** For how long its end is waited for. */
  waitSeconds: number;
  /** As Preference-Applied says it. */
  applied: string;
}

/**
 * Whether a request is to run by itself, by its Prefer headers (RFC 7240): `respond-async` and `wait=10`, sections 4.1 and
 * 4.3, as `Prefer: respond-async, wait=10; strict, note="a, b"`. Unknown preferences, all parameters and waits that are no
 * whole seconds from 1 to 60 are ignored: a preference is a wish, and nobody is refused for one. A stream of events tells
 * by itself how a request goes on, so it waits for nothing.
 * @returns null where the request is to be answered as usual.
 */
export function asyncPreference(request: Pick<ApiRequest, 'headers'>): AsyncPreference | null {
  const sent = preferences(request.headers.get('prefer'));
  // An empty value is none. With any other it is not the preference of that name.
  const respondAsync = sent.get('respond-async') === '';
  const wait = /^\d+$/.test(sent.get('wait') ?? '') ? Number(sent.get('wait')) : 0;
  const waitSeconds = wait <= maxWaitSeconds && !wantsEvents(request) ? wait : 0;
  if (!respondAsync && waitSeconds === 0) return null;
  const applied = [respondAsync && 'respond-async', waitSeconds > 0 && `wait=${waitSeconds}`];
  return { waitSeconds, applied: applied.filter(Boolean).join(', ') };
}

/** Preferences by their names in lower case. Of those that are sent more than once the first counts (RFC 7240, section 2). */
function preferences(values: readonly string[] = []): Map<string, string> {
  const found = new Map<string, string>();
  for (const text of values.flatMap(preferencesIn)) {
    const [name = '', ...words] = text.split('=').map(withoutBlanks);
    const key = name.toLowerCase();
    if (!found.has(key)) found.set(key, words.join('=').replace(/^"(.*)"$/s, '$1'));
  }
  return found;
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
