import { dynaliteOperation } from './dynalite.ts';
import type { Request, Shape, Validation } from './dynalite.ts';

/** The requests of the transaction operations, in dynalite's description language, built from its own. */

const put = dynaliteOperation('putItem');
const update = dynaliteOperation('updateItem');
const remove = dynaliteOperation('deleteItem');
const get = dynaliteOperation('getItem');

/** Missing from dynalite's PutItem, UpdateItem and DeleteItem too. */
export const returnOnFailure: Record<string, Shape> = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

const expressions = ['TableName', 'ExpressionAttributeNames'];
const conditions = [...expressions, 'ConditionExpression', 'ExpressionAttributeValues'];

/** Each kind of entry: how it is validated and which of its members must be there. */
const writeKinds: Record<string, { validation: Validation; members: string[]; required: string[] }> = {
  ConditionCheck: { validation: remove, members: ['Key'], required: ['ConditionExpression'] },
  Put: { validation: put, members: ['Item'], required: [] },
  Delete: { validation: remove, members: ['Key'], required: [] },
  Update: { validation: update, members: ['Key', 'UpdateExpression'], required: ['UpdateExpression'] },
};

function entryShape(kind: string): Shape {
  const { validation, members, required } = writeKinds[kind] ?? {
    validation: get,
    members: [],
    required: [],
  };
  const picked = [...members, ...conditions].map((name) => {
    const shape = validation.types[name] as Exclude<Shape, string>;
    return [name, required.includes(name) ? { ...shape, notNull: true } : shape] as const;
  });
  return { type: `FieldStruct<${kind}>`, children: { ...Object.fromEntries(picked), ...returnOnFailure } };
}

function listOf(type: string, children: Record<string, Shape>): Shape {
  return {
    type: 'List',
    notNull: true,
    lengthGreaterThanOrEqual: 1,
    lengthLessThanOrEqual: 100,
    children: { type: `ValueStruct<${type}>`, children },
  };
}

const capacity = { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] };

/** One entry of a transaction: the kind of operation and its parameters, validated and parsed. */
export type Entry = Record<string, Request> | null;

export const transactWriteValidation: Validation = {
  types: {
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    ReturnConsumedCapacity: capacity,
    ReturnItemCollectionMetrics: { type: 'String', enum: ['SIZE', 'NONE'] },
    TransactItems: listOf(
      'TransactWriteItem',
      Object.fromEntries(Object.keys(writeKinds).map((kind) => [kind, entryShape(kind)])),
    ),
  },
  custom(request, store) {
    for (const entry of request['TransactItems'] as Entry[]) {
      const [kind, ...others] = Object.keys(entry ?? {});
      const data = entry?.[kind ?? ''];
      if (!kind || !data) {
        return 'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request';
      }
      if (others.length > 0) return 'TransactItems can only contain one of Check, Put, Update or Delete';
      const wrong = writeKinds[kind]?.validation.custom?.(data, store);
      if (wrong) return wrong;
    }
    return undefined;
  },
};

export const transactGetValidation: Validation = {
  types: {
    ReturnConsumedCapacity: capacity,
    TransactItems: listOf('TransactGetItem', {
      Get: {
        type: 'FieldStruct<Get>',
        notNull: true,
        children: Object.fromEntries(
          [...expressions, 'Key', 'ProjectionExpression'].map((name) => [name, get.types[name] ?? 'String']),
        ),
      },
    }),
  },
  custom(request, store) {
    for (const entry of request['TransactItems'] as Entry[]) {
      if (!entry?.['Get']) return 'TransactItems can only contain Get';
      const wrong = get.custom?.(entry['Get'], store);
      if (wrong) return wrong;
    }
    return undefined;
  },
};
