import { expect, test } from '@jest/globals';
import { generators } from '../../generators/generators.ts';
import { tableBelow } from '../../support/documents.ts';

test('docs/api/generated-clients.md has each generator that is tried, in its version, with its program', () => {
  const [, ...rows] = tableBelow('docs/api/generated-clients.md', 'Generators that were tried');
  const shown = rows.map(([, version, , , program]) => [/^\[(\S+)\]/.exec(program!)?.[1], version].join(' '));
  expect(shown).toEqual(Object.keys(generators));
});
