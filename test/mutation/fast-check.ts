import * as fc from 'fast-check';

export * from 'fast-check';

/** Any character: a code point that is no half of a pair. */
const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/** The same texts: of the unit `binary` fast-check makes a map of all characters first, which takes a second in every file. */
export const string: typeof fc.string = (constraints) =>
  fc.string(constraints?.unit === 'binary' ? { ...constraints, unit: character } : constraints);

export default { ...fc.default, string };
