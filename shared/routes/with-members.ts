/**
 * An object with other members in addition, or in place of its own. The bundler takes a spread for something that may have
 * effects, and so keeps the routes that stand on one in every function; a call of this it leaves out.
 */
/* @__NO_SIDE_EFFECTS__ */
export function withMembers<A extends object, const B extends object>(
  of: A,
  members: B,
): Omit<A, keyof B> & B {
  return { ...of, ...members };
}
