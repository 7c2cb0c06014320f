import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const root = `${import.meta.dirname}/../..`;

/** A test, by its file and the titles that lead to it. The last one may be of a `describe`: it stands for all its tests. */
export interface NamedTest {
  file: string;
  titles: string[];
}

/** What Jest reports of a file that ran. */
export interface FileThatRan {
  testFilePath: string;
  testResults: { ancestorTitles: string[]; title: string; status: string }[];
}

/** The tests that docs/guarantees.md names. */
export function namedTests(): NamedTest[] {
  const page = readFileSync(`${root}/docs/guarantees.md`, 'utf8');
  return [...page.matchAll(/^ {2}`(\S+) › (.+)`$/gm)].map(([, file, titles]) => ({
    file: file!,
    titles: titles!.split(' › '),
  }));
}

/** Whether the text of a file has these titles as whole strings, in their order; a test in Python is a function. */
export function hasTitles(text: string, titles: string[]): boolean {
  let from = 0;
  return titles.every((title) => {
    const forms = [`'${title}'`, `"${title}"`, `\`${title}\``, `def ${title}(`];
    const places = forms.map((form) => text.indexOf(form, from)).filter((place) => place >= 0);
    from = Math.min(...places) + title.length;
    return places.length > 0;
  });
}

/** What stands in a title for the values of a row: %s, $name, ${name}. */
const value = /%[a-z]|\$\{?\w[\w.]*\}?/;

/** The named tests that did not pass although their file ran whole: they failed, were skipped or have another name. */
export function notPassed(ran: FileThatRan[], tests = namedTests()): NamedTest[] {
  return tests.filter(({ file, titles }) => {
    const found = ran.find(({ testFilePath }) => relative(root, testFilePath).replaceAll('\\', '/') === file);
    if (found === undefined) return false;
    const name = titles
      .join(' › ')
      .split(value)
      .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
      .join('.*');
    const pattern = new RegExp(`^${name}($| › )`, 's');
    const results = found.testResults.filter(({ ancestorTitles, title }) =>
      pattern.test([...ancestorTitles, title].join(' › ')),
    );
    return results.length === 0 || results.some(({ status }) => status !== 'passed');
  });
}
