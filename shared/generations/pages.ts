import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import { playgroundCaller } from './contract.ts';
import type { GenerationStatus, GenerationType } from '../base/generation-kinds.ts';
import type { Generation } from './generation.ts';
import { accountPrefix, firstRequestIdAt, requestIdTimeMs } from '../base/ids.ts';
import { hasAllWords } from '../base/search.ts';
import { fromItem } from './item.ts';
import type { Table } from '../table/table.ts';
import { itemKeys } from '../table/keys.ts';

/** Which requests a history shows: those that match every member that is given. */
export interface GenerationFilter {
  identityId?: string;
  status?: GenerationStatus;
  type?: GenerationType;
  /** The key that asked, or `playgroundCaller` for accounts in the playground. */
  keyId?: string;
  /** Accepted at this instant or later. */
  createdAfterMs?: number;
  /** Accepted before this instant. */
  createdBeforeMs?: number;
  /** Each is somewhere in the prompt. They are as `searchWords` gives them. */
  words?: string[];
}

export interface PageQuery {
  limit: number;
  /** The request after which the page begins; null for the newest. */
  before: string | null;
  filter: GenerationFilter;
  /** The only key whose requests are listed; null for all of the license. */
  reads: string | null;
  /** Records that are past their retention by then are left out. */
  nowMs: number;
}

export interface GenerationPage {
  generations: Generation[];
  /** Where the next page begins: every request after it was looked at. Null on the last one. */
  next: string | null;
}

/** A filter may match almost nothing. One request then reads at most this many records, one to two megabytes. */
const maxExamined = 1000;
const filteredBatch = 200;

/**
 * A request has its id before it is accepted, as long as its references take. Both happen in one invocation of a
 * function, and Lambda ends that after 15 minutes.
 */
const longestAcceptanceMs = 15 * 60 * 1000;

/** A license's history, newest first, because request ids are ordered by time. */
export function generationPages(table: Table) {
  const query = (licenseId: string, before: string | null, limit: number, conditions: Conditions) =>
    table.documents.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'PK = :license AND SK >= :oldest',
        ...conditions.expression,
        ExpressionAttributeValues: {
          ':license': itemKeys.generation(licenseId, '').PK,
          ':oldest': conditions.oldest,
          ...conditions.values,
        },
        ScanIndexForward: false,
        ConsistentRead: true,
        Limit: limit,
        ...(before === null ? {} : { ExclusiveStartKey: itemKeys.generation(licenseId, before) }),
      }),
    );

  return {
    /** The newest requests after `before`, in any status. */
    async list(licenseId: string, limit: number, before: string | null): Promise<Generation[]> {
      const { Items: items } = await query(licenseId, before, limit, everything);
      return (items ?? []).map(fromItem);
    },

    /** One page. With a filter it may hold fewer than `limit` requests, or none, and still not be the last. */
    async listPage(
      licenseId: string,
      { limit, before, filter, reads, nowMs }: PageQuery,
    ): Promise<GenerationPage> {
      const { words = [] } = filter;
      const conditions = conditionsOf(filter, reads, nowMs);
      const batch = reads !== null || isSelective(filter) ? Math.max(limit + 1, filteredBatch) : limit + 1;
      const found: Generation[] = [];
      let examined = 0;
      let next = startOf(before, filter);
      // The table refuses to begin a query outside of its own bounds.
      if (next !== null && next <= conditions.oldest) return { generations: [], next: null };
      do {
        const page = await query(licenseId, next, batch, conditions);
        const matching = (page.Items ?? []).map(fromItem).filter(({ prompt }) => hasAllWords(prompt, words));
        found.push(...matching);
        examined += page.ScannedCount ?? batch;
        next = page.LastEvaluatedKey?.SK ?? null;
      } while (next !== null && found.length <= limit && examined < maxExamined);
      if (found.length > limit) {
        const generations = found.slice(0, limit);
        return { generations, next: generations.at(-1)!.requestId };
      }
      return reads === null || next === null ? { generations: found, next } : withoutOthersId(found, next);
    },
  };
}

/** What was looked at last may be another's, whose id is not to be told. So what is of its millisecond comes with the next page. */
function withoutOthersId(found: Generation[], last: string): GenerationPage {
  const next = firstRequestIdAt(requestIdTimeMs(last) + 1);
  return { generations: found.filter(({ requestId }) => requestId > next), next };
}

interface Conditions {
  /** No request with a smaller id is read. */
  oldest: string;
  expression: { FilterExpression?: string; ExpressionAttributeNames?: Record<string, string> };
  values: Record<string, unknown>;
}

const everything: Conditions = { oldest: firstRequestIdAt(0), expression: {}, values: {} };

/** Whether records are read and left out. A range of time is a bound on what is read. */
function isSelective({
  createdAfterMs: _after,
  createdBeforeMs: _before,
  ...others
}: GenerationFilter): boolean {
  return Object.keys(others).length > 0;
}

/** After which request a page begins. A request is accepted after it got its id, so later ids need not be read. */
function startOf(before: string | null, { createdBeforeMs }: GenerationFilter): string | null {
  if (createdBeforeMs === undefined) return before;
  const bound = firstRequestIdAt(createdBeforeMs);
  return before !== null && before < bound ? before : bound;
}

function conditionsOf(filter: GenerationFilter, reads: string | null, nowMs: number): Conditions {
  const { createdAfterMs = 0 } = filter;
  const tests = [...testsOf(filter, nowMs), ['keyId = ?', reads ?? undefined] as const].filter(
    ([, value]) => value !== undefined,
  );
  const expression = tests.map(([test], i) => test.replaceAll('?', `:v${i}`)).join(' AND ');
  // The table refuses a name that the expression does not use.
  const names = expression.match(/#\w+/g) ?? [];
  return {
    oldest: firstRequestIdAt(createdAfterMs - longestAcceptanceMs),
    expression: {
      FilterExpression: expression,
      ...(names.length > 0 && {
        ExpressionAttributeNames: Object.fromEntries(names.map((name) => [name, name.slice(1)])),
      }),
    },
    values: Object.fromEntries(tests.map(([, value], i) => [`:v${i}`, value])),
  };
}

/** What a record must pass, with its value; a test without a value is none. Names with # are words of the table's own language. */
function testsOf(filter: GenerationFilter, nowMs: number): [test: string, value: unknown][] {
  const fromPlayground = filter.keyId === playgroundCaller;
  return [
    ['expiresAtMs > ?', nowMs],
    ['#identity.#id = ?', filter.identityId],
    ['#status = ?', filter.status],
    ['#type = ?', filter.type],
    fromPlayground ? ['begins_with(keyId, ?)', accountPrefix] : ['keyId = ?', filter.keyId],
    ['createdAtMs >= ?', filter.createdAfterMs],
    ['createdAtMs < ?', filter.createdBeforeMs],
  ];
}
