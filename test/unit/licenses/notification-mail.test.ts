import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { creditMail, productName, type CreditMail } from '../../../shared/licenses/notification-mail.ts';

const mail: CreditMail = {
  percent: 80,
  used: 1200,
  creditsLimit: 1500,
  extraRemaining: 0,
  resetsAtMs: Date.UTC(2026, 5, 1, 9, 30),
  keys: [
    { name: 'CI', credits: 1000 },
    { name: 'Playground', credits: 200 },
  ],
  licenseName: 'Shop & <Co>',
  licenseId: 'lic_1',
  dashboardUrl: 'https://d.test/',
  billingPortalUrl: 'https://billing.test/p?a=1&b=2',
  supportContact: 'help@d.test',
};

test('a mail says what is used, until when, and where to go, the same as text and as HTML', () => {
  const { subject, text, html } = creditMail(mail);
  expect(subject).toBe('80% of the credits of Shop & <Co> are used');
  expect(text).toBe(`1,200 of the 1,500 credits of your license Shop & <Co> are used in this billing period.

Most were used by CI (1,000), Playground (200).

The next period begins on 1 June 2026 at 09:30 UTC. Requests beyond your credits are refused until then.

See what used them: https://d.test/
Change your subscription: https://billing.test/p?a=1&b=2
Ask for help: help@d.test
Switch these e-mails off: https://d.test/account

Image Generation Service
`);
  const lines = text.trim().replace(/: .*/g, '').split(/\n+/);
  const shown = html.replace(/<[^>]*>/g, '\n').replace('&amp; &lt;Co&gt;', '& <Co>');
  expect(shown.split('\n').filter((line) => line !== '')).toEqual(lines);
  expect(html).toMatch(
    /^<!doctype html><html lang="en"><body><p>.*<\/p><ul>(<li><a href="[^"]*">[^<]*<\/a><\/li>){4}<\/ul><p>/,
  );
});

test('whoever has extra credits is not told that requests are refused', () => {
  const { text } = creditMail({ ...mail, percent: 100, used: 1500, extraRemaining: 1 });
  expect(text).toContain('Beside these you have 1 extra credit, used after them. The next period begins');
  expect(text).not.toContain('refused');
});

test('when all is used, requests are refused now', () => {
  const { subject, text } = creditMail({ ...mail, percent: 100, used: 1500 });
  expect(subject).toBe('All credits of Shop & <Co> are used');
  expect(text).toContain('Requests are refused until the next period begins');
});

test('what is not named is not linked', () => {
  const { text, html } = creditMail({ ...mail, billingPortalUrl: null, supportContact: null, keys: [] });
  expect(text + html).not.toMatch(/Most were|Change your|Ask for|null/);
});

test('HTML is escaped, and an address is a link to it', () => {
  const { html } = creditMail(mail);
  expect(html).toContain('Shop &amp; &lt;Co&gt;');
  expect(html).toContain('href="https://billing.test/p?a=1&amp;b=2"');
  expect(html).toContain('href="mailto:help@d.test"');
  const other = creditMail({ ...mail, licenseName: 'a "b"', supportContact: 'http://d.test/help' }).html;
  expect(other).toContain('a &quot;b&quot;');
  expect(other).toContain('href="http://d.test/help"');
});

test('the product has the name that the dashboard shows', () => {
  expect(readFileSync('dashboard/src/components/product.tsx', 'utf8')).toContain(`'${productName}'`);
});
