import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

const page = readFileSync('docs/security.md', 'utf8');
const rows = page.split('\n').filter((line) => /^\| API\d+ /.test(line));
const shown = rows.flatMap((row) => [...row.matchAll(/\]\(\.\.\/(test\/[^)]+)\): “([^”]+)”/g)]);

test('every risk of the list has its row, and every row a test', () => {
  const ids = rows.map((row) => /^\| (API\d+) /.exec(row)![1]);
  expect(ids).toEqual(Array.from({ length: 10 }, (_, i) => `API${i + 1}`));
  for (const row of rows) expect(row).toMatch(/\(\.\.\/test\//);
});

test.each(shown.map(([, file, title]) => [file!, title!]))('%s has “%s”', (file, title) => {
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toContain(title);
});
