import * as z from 'zod/mini';
import { instant, instantRule } from '../base/fields.ts';
import { maxSearchLength, playgroundCaller, searchText } from '../generations/contract.ts';
import { generationStatuses, generationTypes } from '../base/generation-kinds.ts';
import { isKeyId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { searchWords } from '../base/search.ts';
import { ServiceError } from '../base/errors.ts';
import type { GenerationFilter } from '../generations/pages.ts';

const askerRule = `must be the id of a key, or ${playgroundCaller}`;
const searchRule = `must be 1 to ${maxSearchLength} characters, not only white space, and without a NUL`;

/** A parameter's value as the filter has it; undefined for one that is not allowed. */
type Read<T> = (sent: string) => T | undefined;

const oneOf =
  <T extends string>(allowed: readonly T[]): Read<T> =>
  (sent) =>
    allowed.find((value) => value === sent);

const only =
  (isAllowed: (sent: string) => boolean): Read<string> =>
  (sent) =>
    isAllowed(sent) ? sent : undefined;

const readInstant: Read<number> = (sent) =>
  z.safeParse(instant, sent).success ? Date.parse(sent) : undefined;

const readSearch: Read<string[]> = (sent) =>
  searchText.safeParse(sent).success ? searchWords(sent) : undefined;

/** Each filter: its parameter, how that is read, and what it must be. */
const filters = {
  identityId: ['identityId', only(isId), 'must be the id or the slug of an identity'],
  status: ['status', oneOf(generationStatuses), `must be one of ${generationStatuses.join(', ')}`],
  type: ['type', oneOf(generationTypes), `must be one of ${generationTypes.join(', ')}`],
  keyId: ['keyId', only((sent) => sent === playgroundCaller || isKeyId(sent)), askerRule],
  createdAfterMs: ['createdAfter', readInstant, instantRule],
  createdBeforeMs: ['createdBefore', readInstant, instantRule],
  words: ['search', readSearch, searchRule],
} as const satisfies { [Name in keyof GenerationFilter]-?: [string, Read<GenerationFilter[Name]>, string] };

type FilterParameter = (typeof filters)[keyof typeof filters][0];

/** The parameters of a history's query that narrow it. */
export const filterParameters: readonly FilterParameter[] = Object.values(filters).map(([name]) => name);

/**
 * Reads the filter of a history from its query.
 * @throws INVALID_PARAMETERS naming every parameter that can't be a filter.
 */
export function readFilter(query: Partial<Record<string, string>>): GenerationFilter {
  const problems: string[] = [];
  const found = Object.entries(filters).flatMap(([member, [parameter, read, rule]]) => {
    const sent = query[parameter];
    if (sent === undefined) return [];
    const value = read(sent);
    if (value === undefined) problems.push(`${parameter} ${rule}`);
    return [[member, value]];
  });
  if (problems.length > 0) throw new ServiceError('INVALID_PARAMETERS', `${problems.join('; ')}.`);
  return Object.fromEntries(found);
}
