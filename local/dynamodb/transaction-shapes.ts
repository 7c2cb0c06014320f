import { dynaliteOperation } from './dynalite.ts';
import type { Request, Shape, Validation } from './dynalite.ts';

/** The request of TransactWriteItems, in dynalite's description language, built from its own. */

const put = dynaliteOperation('putItem');
const update = dynaliteOperation('updateItem');
const remove = dynaliteOperation('deleteItem');

/** Missing from dynalite's PutItem, UpdateItem and DeleteItem too. */
export const returnOnFailure: Record<string, Shape> = {
  ReturnValuesOnConditionCheckFailure: { type: 'String', enum: ['ALL_OLD', 'NONE'] },
};

const conditions = [
  'TableName',
  'ConditionExpression',
  'ExpressionAttributeNames',
  'ExpressionAttributeValues',
];

interface WriteKind {
  validation: Validation;
  members: string[];
  required: string[];
}

/** Each kind of entry: how it is validated and which of its members must be there. */
const writeKinds: Record<string, WriteKind> = {
  ConditionCheck: { validation: remove, members: ['Key'], required: ['ConditionExpression'] },
  Put: { validation: put, members: ['Item'], required: [] },
  Delete: { validation: remove, members: ['Key'], required: [] },
  Update: { validation: update, members: ['Key', 'UpdateExpression'], required: ['UpdateExpression'] },
};

function entryShape([kind, { validation, members, required }]: [string, WriteKind]): [string, Shape] {
  const picked = [...members, ...conditions].map((name) => {
    const shape = validation.types[name] as Exclude<Shape, string>;
    return [name, required.includes(name) ? { ...shape, notNull: true } : shape] as const;
  });
  const children = { ...Object.fromEntries(picked), ...returnOnFailure };
  return [kind, { type: `FieldStruct<${kind}>`, children }];
}

/** One entry of a transaction: the kind of operation and its parameters, validated and parsed. */
export type Entry = Record<string, Request> | null;

export const transactWriteValidation: Validation = {
  types: {
    ClientRequestToken: { type: 'String', lengthGreaterThanOrEqual: 1, lengthLessThanOrEqual: 36 },
    ReturnConsumedCapacity: { type: 'String', enum: ['INDEXES', 'TOTAL', 'NONE'] },
    ReturnItemCollectionMetrics: { type: 'String', enum: ['SIZE', 'NONE'] },
    TransactItems: {
      type: 'List',
      notNull: true,
      lengthGreaterThanOrEqual: 1,
      lengthLessThanOrEqual: 100,
      children: {
        type: 'ValueStruct<TransactWriteItem>',
        children: Object.fromEntries(Object.entries(writeKinds).map(entryShape)),
      },
    },
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
