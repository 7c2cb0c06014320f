import { db } from './dynalite.ts';
import type { Item, Operand, Path, UpdateSection } from './dynalite.ts';

/**
 * Puts a parsed update expression into the form in which dynalite's `updateItem` applies it rightly.
 *
 * DynamoDB reads every path against the item as it was, whereas dynalite applies one section after another to
 * one item. So removals go last, from the end of each list (`REMOVE l[0], l[1]`), and what a SET copies out
 * of the item becomes a value of its own (`SET previous = n ADD n :one`).
 */
export function prepareUpdate(sections: UpdateSection[], existing: Item): void {
  if (sections.length < 2) return;
  for (const section of sections) {
    if (section.type === 'set' && section.val) section.val = detached(section.val, existing);
  }
  sections.sort((a, b) => {
    const last = Number(a.type === 'remove') - Number(b.type === 'remove');
    return last || (a.type === 'remove' ? backwards(a.path, b.path) : 0);
  });
}

/** Replaces each path in an operand by a copy of its value in the item, if it has one. */
function detached(operand: Operand, item: Item): Operand {
  if (Array.isArray(operand)) return copyAt(operand, item) ?? operand;
  if (!('type' in operand)) return operand;
  const [first, ...others] = operand.args;
  if (operand.name !== 'if_not_exists') {
    return { ...operand, args: operand.args.map((argument) => detached(argument, item)) };
  }
  const found = Array.isArray(first) ? copyAt(first, item) : undefined;
  if (found || !first) return found ?? operand;
  return { ...operand, args: [first, ...others.map((argument) => detached(argument, item))] };
}

function copyAt(path: Path, item: Item): Operand | undefined {
  const value = db.mapPath(path, item);
  return value ? structuredClone(value) : undefined;
}

/** Orders two paths so that the higher position of a list comes first. */
function backwards(a: Path, b: Path): number {
  const i = a.findIndex((step, depth) => step !== b[depth]);
  const [left, right] = [a[i], b[i]];
  if (typeof left === 'number' && typeof right === 'number') return right - left;
  return String(left) < String(right) ? -1 : 1;
}
