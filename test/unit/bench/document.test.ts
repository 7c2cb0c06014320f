import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { documentPath, fillDocument } from '../../bench/document.ts';
import { sectionTitles } from '../../bench/report.ts';

test('the document has a place for every table', () => {
  const text = readFileSync(documentPath, 'utf8');
  const parts = Object.fromEntries(
    [...Object.keys(sectionTitles), 'profile', 'floor'].map((name) => [name, '']),
  );
  expect(() => fillDocument(text, parts)).not.toThrow();
});
