import { isDeepStrictEqual } from 'node:util';

/** A failed check. The message ends a sentence that begins with the check's name. */
export class Mismatch extends Error {
  override name = 'Mismatch';
}

/** @throws Mismatch */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Mismatch(otherwise);
}

/** Compares members of an answer. Messages name members without values, because some are secret links. @throws Mismatch naming them. */
export function mustEqual(found: Record<string, unknown>, expected: Record<string, unknown>): void {
  const wrong = Object.keys(expected).filter((name) => !isDeepStrictEqual(found[name], expected[name]));
  must(wrong.length === 0, `wrong in the answer: ${wrong.join(', ')}`);
}

/** @throws Mismatch naming the members that are missing or should not be there. */
export function mustHaveMembers(
  found: unknown,
  names: readonly string[],
): asserts found is Record<string, any> {
  must(typeof found === 'object' && found !== null, 'the answer is no JSON object');
  const present = Object.keys(found);
  const missing = names.filter((name) => !present.includes(name));
  const unknown = present.filter((name) => !names.includes(name));
  must(missing.length === 0, `missing in the answer: ${missing.join(', ')}`);
  must(unknown.length === 0, `unknown in the answer: ${unknown.join(', ')}`);
}
