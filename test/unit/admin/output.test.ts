import { expect, test } from '@jest/globals';
import { asFailure, usageFailure } from '../../../bin/common/failure.ts';
import { errorLine, keyValues, printable, readableTime, table } from '../../../bin/common/output.ts';
import { newApiKey } from '../../../shared/keys/api-key.ts';

test('columns are as wide as their widest cell, and numbers stand below each other', () => {
  const rows = Object.entries({ a: 5, longer: 1500 });
  const lines = ['NAME    CREDITS', 'a             5', 'longer     1500'];
  expect(table(['NAME', 'CREDITS'], rows).split('\n')).toEqual(lines);
});

test('a value that is not there is a dash', () => {
  expect(keyValues(Object.entries({ Name: 'a', Expires: null }))).toBe('Name     a\nExpires  –');
  expect(readableTime(null)).toBe('–');
  expect(readableTime(Date.UTC(2026, 10, 21, 9, 5, 7, 999))).toBe('2026-11-21 09:05:07 UTC');
});

test("nothing in a customer's name acts on the terminal", () => {
  expect(printable('a\u001b[31mb\nc\u009bd\u202ee 😀é')).toBe('a?[31mb?c?d?e 😀é');
  expect(table(['NAME'], [['two\nlines']]).split('\n')).toHaveLength(2);
});

test('an error is one line, and repeats no raw key', () => {
  const rawKey = newApiKey();
  const shown = errorLine(`unknown option '${rawKey}'\n  (or so)`);
  expect(shown).toBe("error: unknown option 'svc_live_…' (or so)\n");
});

test('errors of the SDK become sentences that say what to do', () => {
  const local = { name: 'the local service on .local', localFolder: '.local' };
  const aws = { name: 'the table t in eu-west-1', localFolder: null };
  const error = (name: string, message: string, more = {}) =>
    Object.assign(new Error(message), { name }, more);
  const refused = error('Error', 'connect', { code: 'ECONNREFUSED' });
  const denied = error('AccessDeniedException', 'not authorized', { $metadata: {}, $fault: 'client' });
  const cases: [unknown, typeof local | typeof aws, string | RegExp][] = [
    [refused, local, /^No local service runs on \.local: /],
    [refused, aws, "The table t in eu-west-1 can't be reached (ECONNREFUSED)."],
    [error('Error', 'Region is missing'), aws, /^No AWS region is known/],
    [error('CredentialsProviderError', 'none'), aws, /^No AWS credentials/],
    [error('ResourceNotFoundException', 'x'), aws, /no such table/],
    [error('TimeoutError', 'x'), local, /^The local service .* did not answer in time/],
    [denied, aws, 'The table t in eu-west-1 refused: not authorized (AccessDeniedException)'],
  ];
  for (const [cause, place, sentence] of cases) expect(asFailure(cause, place).message).toMatch(sentence);
  const own = usageFailure('Say it rightly.');
  expect(asFailure(own, aws)).toBe(own);
});
