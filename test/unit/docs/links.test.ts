import { expect, test } from '@jest/globals';
import { linkProblem, linksOf, pages } from '../../support/documents.ts';

test.each(pages())('every link of %s leads to a file, and to a heading where it names one', (page) => {
  const problems = linksOf(page).flatMap((href) => {
    const problem = linkProblem(page, href);
    return problem === null ? [] : [`${href} ${problem}`];
  });
  expect(problems).toEqual([]);
});

test('a link to nothing would be found', () => {
  const problems = [
    'errors.md',
    'nothing.md',
    'errors.md#rate_limited',
    'errors.md#nothing',
    '../../outside.md',
  ];
  expect(problems.map((href) => linkProblem('docs/costs.md', href))).toEqual([
    null,
    'names no file',
    null,
    'names no heading',
    'leads out of the repository',
  ]);
  expect(linksOf('docs/api/README.md').length).toBeGreaterThan(10);
});

test('every page for callers of the API is named in their index', () => {
  const named = linksOf('docs/api/README.md');
  const below = pages().filter((path) => /^docs\/api\/(?!README)/.test(path));
  expect(below.length).toBeGreaterThanOrEqual(6);
  for (const path of below) expect(named).toContain(path.replace('docs/api/', ''));
  expect(named).toContain('../errors.md');
});
