import { db } from './dynalite.ts';
import type { AttributeValue, Expression, Item, Operand, OperandCall } from './dynalite.ts';

type Value = AttributeValue | undefined;

/**
 * Evaluates a parsed condition or filter expression.
 *
 * It replaces dynalite's own evaluation, in which lists and maps never equal one another, and two absent
 * attributes compare as equal. Comparing scalars is still dynalite's.
 */
export function holds(expression: Expression, item: Item): boolean {
  const parts = expression.args as Expression[];
  if (expression.type === 'and') return parts.every((part) => holds(part, item));
  if (expression.type === 'or') return parts.some((part) => holds(part, item));
  if (expression.type === 'not') return !parts.every((part) => holds(part, item));

  const values = (expression.args as Operand[]).map((operand) => resolve(operand, item));
  const operator = expression.type === 'function' ? (expression.name ?? '') : expression.type;
  return compare(operator, values[0], values.slice(1));
}

function compare(operator: string, value: Value, operands: Value[]): boolean {
  if (operator === 'attribute_exists') return value !== undefined;
  if (operator === 'attribute_not_exists') return value === undefined;
  if (operator === '=') return same(value, operands[0]);
  if (operator === '<>') return !same(value, operands[0]);
  if (operator === 'in') return operands.some((operand) => same(value, operand));
  if (operator === 'contains' && value?.L) return value.L.some((member) => same(member, operands[0]));
  if (value === undefined || operands.includes(undefined)) return false;
  return db.compare(operator, value, operands);
}

function resolve(operand: Operand, item: Item): Value {
  // dynalite would find members in an item that every object inherits, such as `constructor`.
  if (Array.isArray(operand)) {
    return Object.hasOwn(item, String(operand[0])) ? (db.mapPath(operand, item) ?? undefined) : undefined;
  }
  if (!isCall(operand)) return operand;
  const value = operand.args[0] && resolve(operand.args[0], item);
  const size = value && sizeOf(value);
  return size === undefined ? undefined : { N: String(size) };
}

function isCall(operand: Operand): operand is OperandCall {
  return 'type' in operand;
}

/** What `size()` counts: characters, bytes, or members. Numbers, booleans and nulls have no size. */
function sizeOf(value: AttributeValue): number | undefined {
  if (value.S !== undefined) return value.S.length;
  if (value.B !== undefined) return Buffer.from(value.B, 'base64').length;
  if (value.M) return Object.keys(value.M).length;
  return (value.L ?? value.SS ?? value.NS ?? value.BS)?.length;
}

/** Equality as DynamoDB defines it: maps and sets have no order, lists do; an absent value equals nothing. */
function same(a: Value, b: Value): boolean {
  if (!a || !b) return false;
  if (a.M && b.M) return sameMaps(a.M, b.M);
  if (a.L && b.L) return a.L.length === b.L.length && a.L.every((value, i) => same(value, b.L?.[i]));
  for (const type of ['SS', 'NS', 'BS'] as const) {
    const [left, right] = [a[type], b[type]];
    if (left && right) return left.length === right.length && left.every((member) => right.includes(member));
  }
  const [type] = Object.keys(a) as (keyof AttributeValue)[];
  return type !== undefined && a[type] === b[type];
}

function sameMaps(a: Item, b: Item): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => same(a[name], b[name]));
}
