import { describe, expect, test } from '@jest/globals';
import { errorCodes, type ErrorCode } from '../../../shared/base/errors.ts';
import { errorAdvice } from '../../../shared/openapi/error-advice.ts';
import { errorExamples } from '../../../shared/openapi/error-examples.ts';
import { overview } from '../../../shared/openapi/overview.ts';
import { headingsOf, sectionTokens, tableBelow } from '../../support/documents.ts';

const page = 'docs/errors.md';
const codes = Object.keys(errorCodes) as ErrorCode[];
const sections = headingsOf(page, 2);

test('there is one section for each code, in the order of the table, and none for a code that does not exist', () => {
  expect(sections).toEqual(codes);
});

test('the index has every code, by its status', () => {
  const byStatus = Map.groupBy(codes, (code) => errorCodes[code].status);
  const linksTo = (of: ErrorCode[]) => of.map((code) => `[${code}](#${code.toLowerCase()})`).join(', ');
  const expected = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, of]) => [String(status), linksTo(of)]);
  expect(tableBelow(page, 'Errors').slice(1)).toEqual(expected);
});

const itemsOf = (code: ErrorCode): string[] =>
  (sectionTokens(page, code) as any[])
    .find(({ type }) => type === 'list')
    ?.items.map(({ text }: { text: string }) => text) ?? [];

describe.each(codes)('%s', (code) => {
  const { status, retryAfterSeconds } = errorCodes[code];

  test('has its meaning, its cause and what to do, each in at least a sentence, and Retry-After where there is one', () => {
    const [meaning, cause, whatToDo, ...more] = itemsOf(code);
    expect(more).toEqual([]);
    expect(meaning).toMatch(new RegExp(`^\\*\\*Meaning:\\*\\* ${status}\\. \\S.{15,}\\.$`, 's'));
    expect(cause).toMatch(/^\*\*Cause:\*\* \S.{15,}\.$/s);
    expect(whatToDo).toMatch(/^\*\*What to do:\*\* \S.{15,}\.$/s);
    expect([meaning, cause, whatToDo].join().includes('`Retry-After`')).toBe(retryAfterSeconds !== undefined);
  });

  test('has a place of its own in the API reference, with one plain sentence of what to do', () => {
    const advice = errorAdvice[code];
    // The dashboard shows it as it is, so nothing of it may be Markdown.
    expect(advice).toMatch(/^[A-Z][^`*\n]{15,120}\.$/);
    const sentence = `\n\n\`${code}\`, ${status}: “${errorExamples[code]}” ${advice}\n`;
    const [before, ...more] = overview.split(sentence);
    expect(more).toHaveLength(1);
    const [, title] = /\n### ([\w ]+)$/.exec(before!)!;
    // The reference makes the address of a title, and the dashboard that of a code: `#description/tier-limit`.
    expect(title!.toLowerCase().replaceAll(' ', '-')).toBe(code.toLowerCase().replaceAll('_', '-'));
  });
});
