import { counted, isolated } from '../base/words.ts';
import type { NotificationPercent } from './notifications.ts';

/** As the dashboard calls it. */
export const productName = 'Image Generation Service';

export interface CreditMail {
  percent: NotificationPercent;
  used: number;
  creditsLimit: number;
  /** Left of credits beside those of periods. */
  extraRemaining: number;
  resetsAtMs: number;
  /** Those that used most, the first one most of all. */
  keys: { name: string; credits: number }[];
  licenseName: string;
  licenseId: string;
  /** With a slash at the end. */
  dashboardUrl: string;
  billingPortalUrl: string | null;
  /** An e-mail address or a page. */
  supportContact: string | null;
}

/** The dashboard's page where these mails are switched off. */
export function accountPage(dashboardUrl: string): string {
  return `${dashboardUrl}account`;
}

/** What an owner reads when a part of the credits is used: the same as plain text and as HTML. */
export function creditMail(mail: CreditMail): { subject: string; text: string; html: string } {
  const { percent, used, creditsLimit, extraRemaining } = mail;
  const licenseName = isolated(mail.licenseName);
  const isAll = percent === 100;
  const subject = isAll
    ? `All credits of ${licenseName} are used`
    : `${percent}% of the credits of ${licenseName} are used`;
  const sentences = [
    `${grouped(used)} of the ${grouped(creditsLimit)} credits of your license ${licenseName} are used in this billing period.`,
    ...(mail.keys.length > 0 ? [`Most were used by ${mail.keys.map(keyInWords).join(', ')}.`] : []),
    extraRemaining > 0
      ? `Beside these you have ${counted(extraRemaining, 'extra credit')}, used after them. The next period begins on ${dayAndTime(mail.resetsAtMs)}.`
      : isAll
        ? `Requests are refused until the next period begins, on ${dayAndTime(mail.resetsAtMs)}.`
        : `The next period begins on ${dayAndTime(mail.resetsAtMs)}. Requests beyond your credits are refused until then.`,
  ];
  const links = linksOf(mail);
  const text = [...sentences, links.map(([label, url]) => `${label}: ${url}`).join('\n'), productName];
  const html = [
    ...sentences.map((sentence) => `<p>${escaped(sentence)}</p>`),
    `<ul>${links.map(([label, url]) => `<li><a href="${escaped(hrefOf(url))}">${escaped(label)}</a></li>`).join('')}</ul>`,
    `<p>${productName}</p>`,
  ];
  return {
    subject,
    text: `${text.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${html.join('')}</body></html>`,
  };
}

const keyInWords = ({ name, credits }: CreditMail['keys'][number]) =>
  `${isolated(name)} (${grouped(credits)})`;

function linksOf({ dashboardUrl, billingPortalUrl, supportContact }: CreditMail): [string, string][] {
  const links: [string, string | null][] = [
    ['See what used them', dashboardUrl],
    ['Change your subscription', billingPortalUrl],
    ['Ask for help', supportContact],
    ['Switch these e-mails off', accountPage(dashboardUrl)],
  ];
  return links.filter((link): link is [string, string] => link[1] !== null);
}

const hrefOf = (contact: string) =>
  contact.startsWith('https://') || contact.startsWith('http://') ? contact : `mailto:${contact}`;

const grouped = (n: number) => n.toLocaleString('en-US');

function dayAndTime(atMs: number): string {
  const format = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat('en-GB', format).format(atMs)} UTC`;
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (character) => entities[character]!);
}
