import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { GenerationStatus, GenerationType } from '../contracts/generation.ts';
import type { Generation } from '../domain/generation.ts';
import { fromItem } from './generation-item.ts';
import type { Table } from './table.ts';
import { itemKeys } from './table-keys.ts';

/** Which requests a history shows: those that match every member that is given. */
export interface GenerationFilter {
  identityId?: string;
  status?: GenerationStatus;
  type?: GenerationType;
}

export interface PageQuery {
  limit: number;
  /** The request after which the page begins; null for the newest. */
  before: string | null;
  filter: GenerationFilter;
  /** Records that are past their retention by then are left out. */
  nowMs: number;
}

export interface GenerationPage {
  generations: Generation[];
  /** Where the next page begins; null on the last one. */
  next: string | null;
}

/** A filter may match almost nothing. One request then reads at most this many records, one to two megabytes. */
const maxExamined = 1000;
const filteredBatch = 200;

/** A license's history, newest first, because request ids are ordered by time. */
export function generationPages(table: Table) {
  const query = (licenseId: string, before: string | null, limit: number, conditions: Conditions) =>
    table.documents.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'PK = :license',
        ...conditions.expression,
        ExpressionAttributeValues: {
          ':license': itemKeys.generation(licenseId, '').PK,
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
      const { Items: items } = await query(licenseId, before, limit, { expression: {}, values: {} });
      return (items ?? []).map(fromItem);
    },

    /** One page. With a filter it may hold fewer than `limit` requests, or none, and still not be the last. */
    async listPage(licenseId: string, { limit, before, filter, nowMs }: PageQuery): Promise<GenerationPage> {
      const conditions = conditionsOf(filter, nowMs);
      const batch = Object.keys(filter).length === 0 ? limit + 1 : Math.max(limit + 1, filteredBatch);
      const found: Generation[] = [];
      let examined = 0;
      let next = before;
      do {
        const page = await query(licenseId, next, batch, conditions);
        found.push(...(page.Items ?? []).map(fromItem));
        examined += page.ScannedCount ?? batch;
        next = page.LastEvaluatedKey?.SK ?? null;
      } while (next !== null && found.length <= limit && examined < maxExamined);
      const generations = found.slice(0, limit);
      return { generations, next: found.length > limit ? generations.at(-1)!.requestId : next };
    },
  };
}

interface Conditions {
  expression: { FilterExpression?: string; ExpressionAttributeNames?: Record<string, string> };
  values: Record<string, unknown>;
}

function conditionsOf({ identityId, status, type }: GenerationFilter, nowMs: number): Conditions {
  const wanted = [
    { path: '#identity.#id', names: { '#identity': 'identity', '#id': 'id' }, value: identityId },
    { path: '#status', names: { '#status': 'status' }, value: status },
    { path: '#type', names: { '#type': 'type' }, value: type },
  ].filter(({ value }) => value !== undefined);
  return {
    expression: {
      FilterExpression: ['expiresAtMs > :now', ...wanted.map(({ path }, i) => `${path} = :w${i}`)].join(
        ' AND ',
      ),
      ...(wanted.length === 0
        ? {}
        : { ExpressionAttributeNames: Object.assign({}, ...wanted.map(({ names }) => names)) }),
    },
    values: { ':now': nowMs, ...Object.fromEntries(wanted.map(({ value }, i) => [`:w${i}`, value])) },
  };
}
