import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { hasAllWords, searchWords } from '../../../shared/base/search.ts';

const finds = (prompt: string, search: string) => hasAllWords(prompt, searchWords(search));

test.each([
  ['A quiet Bay at dawn', 'DAWN  quiet', true],
  ['A quiet Bay at dawn', 'quiet bays', false],
  ['a cafe\u0301', 'CAFÉ', true],
  ['a café', 'cafe', false],
  ['Die Straße', 'STRASSE', true],
  ['an eﬃcient ﬂoor', 'EFFICIENT FLOOR', true],
  ['DIYARBAKIR', 'dıyarbakır', true],
  ['ΟΔΟΣΗΜΑ στη νύχτα', 'ΟΔΟΣ', true],
  ['ΜΕΓΆΛΟΣ', 'μεγάλος', true],
  ['İstanbul at dawn', 'istanbul', true],
  ['i\u0323\u0307stanbul', 'ịstanbul', true],
  ['istanbul', 'ístanbul', false],
  ['100% wool (blue)', '% (b', true],
  ['', 'x', false],
])('in %j the search %j is %j', (prompt, search, found) => expect(finds(prompt, search)).toBe(found));

test('a search is its words, whatever white space is between and around them', () => {
  expect(searchWords('  red \t\n bay\u3000red ')).toEqual(['red', 'bay']);
  expect(searchWords(' ')).toEqual([]);
});

test('a prompt is found by any of its words, in any order and case', () => {
  const anyWords = fc.array(fc.stringMatching(/^[a-zäöé0-9]{1,8}$/), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(anyWords, fc.infiniteStream(fc.boolean()), (words, picks) => {
      const some = words.filter(() => picks.next().value).toReversed();
      expect(finds(words.join(' '), some.join(' ').toUpperCase())).toBe(true);
      expect(finds(words.join(' '), [...some, 'a-word-of-none'].join(' '))).toBe(false);
    }),
  );
});

test('every character is found by its other cases and forms, whatever was done to it before', () => {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const character = String.fromCodePoint(point);
    const cases = [character.toUpperCase(), character.toLowerCase()];
    const forms = ['NFD', 'NFKC'].map((form) => character.normalize(form));
    const others = [...cases, ...forms].filter((other) => other !== character);
    if (others.length === 0) continue;
    const words = String(searchWords(character));
    for (const other of [...others, words]) {
      const found = String(searchWords(other));
      if (found !== words) throw new Error(`U+${point.toString(16)} is ${words}, and ${other} is ${found}.`);
    }
  }
});

test('every character but white space is part of a word, so that no search matches everything', () => {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const character = String.fromCodePoint(point);
    if (searchWords(character).length === 0 && character.trim() !== '') {
      throw new Error(`A search for U+${point.toString(16)} has no word.`);
    }
  }
});

test('takes time by the length of a text alone, whatever marks it is made of', () => {
  // With a look back over all marks before each, this would not end within the test's limit.
  const marks = '\u0307'.repeat(1_000_000);
  expect(hasAllWords(`i${marks} a${marks}`, searchWords('ia'))).toBe(false);
});
