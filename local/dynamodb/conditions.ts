import { isDeepStrictEqual } from 'node:util';
import { db } from './dynalite.ts';
import type { AttributeValue, Expression, Item, Operand } from './dynalite.ts';

/**
 * Evaluates a parsed condition or filter expression in place of dynalite, for which lists and maps never equal one
 * another, and two absent attributes do. It compares scalars by dynalite's rules.
 */
export function holds({ type, name, args }: Expression, item: Item): boolean {
  const parts = args as Expression[];
  if (type === 'and') return parts.every((part) => holds(part, item));
  if (type === 'or') return parts.some((part) => holds(part, item));
  if (type === 'not') return !parts.every((part) => holds(part, item));
  const [value, ...operands] = (args as Operand[]).map((operand) => valueOf(operand, item));
  if (type === '<>') return value === undefined || !isDeepStrictEqual(value, operands[0]);
  if (value === undefined) return name === 'attribute_not_exists';
  if (type === '=' || type === 'in') return operands.some((operand) => isDeepStrictEqual(value, operand));
  return !operands.includes(undefined) && db.compare(name ?? type, value, operands);
}

function valueOf(operand: Operand, item: Item): AttributeValue | undefined {
  if (Array.isArray(operand)) return db.mapPath(operand, item) ?? undefined;
  if ('type' in operand) throw db.validationError('The embedded DynamoDB engine does not support size().');
  return operand;
}
