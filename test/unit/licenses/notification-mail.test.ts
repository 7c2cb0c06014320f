import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { creditMail, productName, type CreditMail } from '../../../shared/licenses/notification-mail.ts';

const mail: CreditMail = {
  percent: 80,
  used: 1200,
  creditsLimit: 1500,
  resetsAtMs: Date.UTC(2026, 5, 1, 9, 30),
  licenseName: 'Shop & <Co>',
  licenseId: 'lic_1',
  dashboardUrl: 'https://d.test/',
  billingPortalUrl: 'https://billing.test/p?a=1&b=2',
  supportContact: 'help@d.test',
};

test('a mail says what is used, until when, and where to go', () => {
  const { subject, text } = creditMail(mail);
  expect(subject).toBe('80% of the credits of Shop & <Co> are used');
  expect(text).toContain('1,200 of the 1,500 credits of your license Shop & <Co> are used');
  expect(text).toContain('on 1 June 2026 at 09:30 UTC');
  for (const link of ['https://d.test/', mail.billingPortalUrl!, 'help@d.test', 'https://d.test/account']) {
    expect(text).toContain(`: ${link}\n`);
  }
});

test('when all is used, requests are refused now', () => {
  const { subject, text } = creditMail({ ...mail, percent: 100, used: 1500 });
  expect(subject).toBe('All credits of Shop & <Co> are used');
  expect(text).toContain('Requests are refused until the next period begins');
});

test('what is not named is not linked', () => {
  const { text, html } = creditMail({ ...mail, billingPortalUrl: null, supportContact: null });
  expect(text + html).not.toMatch(/Change your|Ask for|null/);
});

test('HTML is escaped, and an address is a link to it', () => {
  const { html } = creditMail(mail);
  expect(html).toContain('Shop &amp; &lt;Co&gt;');
  expect(html).toContain('href="https://billing.test/p?a=1&amp;b=2"');
  expect(html).toContain('href="mailto:help@d.test"');
});

test('the product has the name that the dashboard shows', () => {
  expect(readFileSync('dashboard/src/components/product.tsx', 'utf8')).toContain(`'${productName}'`);
});
