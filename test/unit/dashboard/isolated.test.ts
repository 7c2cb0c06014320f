import { expect, test } from '@jest/globals';
import { isolated as inDashboard } from '../../../dashboard/src/lib/text.ts';
import { isolated as inService } from '../../../shared/base/words.ts';
import { creditMail } from '../../../shared/licenses/notification-mail.ts';

test.each([
  ['a plain name', 'Łukasz’s key', 'Łukasz’s key'],
  ['an override that is not closed', 'a\u202egnp.exe', 'agnp.exe'],
  ['an end of isolation that nothing began', 'a\u2069\u2066b', 'ab'],
  ['letters that are written from right to left', 'מפתח', '\u2068מפתח\u2069'],
  ['such letters beyond U+FFFF', '\u{1e900}', '\u2068\u{1e900}\u2069'],
])('%s leaves the words of a sentence around it where they are', (_, name, shown) => {
  expect([inDashboard(name), inService(name)]).toEqual([shown, shown]);
});

test('a mail names a license so', () => {
  const about = { used: 8, creditsLimit: 10, extraRemaining: 0, resetsAtMs: 0, keys: [], licenseId: 'lic_1' };
  const places = { dashboardUrl: 'https://d.test/', billingPortalUrl: null, supportContact: null };
  const { subject, text, html } = creditMail({ percent: 80, ...about, ...places, licenseName: 'x\u202ey' });
  for (const part of [subject, text, html]) expect(part).toMatch(/of (your license )?xy are used/);
});
