import { expect, test } from '@jest/globals';
import { referenceUrlProblem } from '../../../shared/references/contract.ts';

test.each([
  ['https://a.example/p.png?q=a b', 'must not contain white space or control characters: write %20'],
  ['https://a.example/\r\n', 'must not contain white space or control characters'],
  ['https://a.example\\p.png', 'must not contain backslashes: write / for one'],
  [`https://a.example/${'a'.repeat(2048)}`, 'must be at most 2048 characters'],
  ['shop.example.com/a.png', 'must begin with https://'],
  ['https://?q', 'must have a host name after https://'],
  ['https://me:secret@a.example/', 'must not contain a user or a password'],
  ['https://a.example:8443/', 'must not have a port'],
  ['https://a<b.example/', 'must have a valid host name, and no port'],
  ['https://0x7f.1/', 'must have a host name, not an IP address'],
  ['https://[2001:db8::1]/', 'must have a host name, not an IP address'],
  ['https://a..example/', 'must have a full host name, as in shop.example.com'],
])('%j is refused by the rule that it breaks: %s', (text, rule) => {
  expect(referenceUrlProblem(text)).toContain(rule);
});
