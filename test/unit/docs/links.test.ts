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
  const problems = {
    'errors.md': null,
    'nothing.md': 'names no file',
    'errors.md#rate_limited': null,
    'errors.md#nothing': 'names no heading',
    '../../outside.md': 'leads out of the repository',
  };
  for (const [href, problem] of Object.entries(problems))
    expect([href, linkProblem('docs/costs.md', href)]).toEqual([href, problem]);
  expect(linksOf('docs/api/README.md').length).toBeGreaterThan(10);
});

test('every page for callers of the API is named in their index', () => {
  const named = linksOf('docs/api/README.md');
  const below = pages().filter((path) => /^docs\/api\/(?!README)/.test(path));
  expect(below.length).toBeGreaterThanOrEqual(6);
  for (const path of below) expect(named).toContain(path.replace('docs/api/', ''));
  expect(named).toContain('../errors.md');
});
