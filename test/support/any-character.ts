import * as fc from 'fast-check';

/** Halves of pairs are no characters. */
const halves = { from: 0xd800, count: 0x800 };

/**
 * Every character of Unicode, as fast-check's own unit `binary` has them. That one makes a map of 1.1 million characters
 * first, which takes a second in every file.
 */
export const anyCharacter = fc
  .nat({ max: 0x10ffff - halves.count })
  .map((index) => String.fromCodePoint(index < halves.from ? index : index + halves.count), indexOf);

/** By it fast-check finds out which names of `Object.prototype` it may put into a text, and shrinks examples. */
function indexOf(character: unknown): number {
  if (typeof character !== 'string' || !/^\p{Any}$/su.test(character) || !character.isWellFormed()) {
    throw new Error('not one character');
  }
  const codePoint = character.codePointAt(0)!;
  return codePoint < halves.from ? codePoint : codePoint - halves.count;
}
