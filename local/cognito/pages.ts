import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { ErrorOut } from 'oidc-provider';
import { styles } from './styles.ts';

const productName = 'Image Generation Service';

/** The dashboard's logo (`dashboard/src/components/product.tsx`). */
const mark =
  '<svg class="mark" aria-hidden="true" viewBox="0 0 32 32" fill="currentColor"><path d="M9 3a6 6 0 1 1 0 12A6 6 0 0 1 9 3Z"/>' +
  '<path d="M17 3h12a12 12 0 0 1-12 12V3Z"/><path d="M3 17h12v12A12 12 0 0 1 3 17Z"/><path d="M17 17h12v12H17z"/></svg>';

export interface Page {
  html: string;
  headers: Record<string, string>;
}

export interface SignInForm {
  interactionId: string;
  email: string;
  error?: string;
  /** Whether the password was right, and the code of an authenticator app is asked for. */
  asksCode?: boolean;
  /** Origins other than this one that a sign-in may return to. */
  returnOrigins: string[];
}

/** Heading and sentence of every page without a form. */
const messages = {
  startAgain: [
    'Start again',
    'This sign-in is no longer open: it was finished, left for too long, or opened in another tab.',
  ],
  badRequest: [
    'This link does not work',
    'The application that sent you here asked for something that is not possible.',
  ],
  logoutAddress: [
    'You are still signed in',
    'The address to return to after signing out is not registered, so nothing was changed.',
  ],
  notFound: ['There is no such page', 'Check the address.'],
  failed: ['Something went wrong', 'The sign-in could not go on because of a fault on our side. Try again.'],
} satisfies Record<string, [string, string]>;

/** @param detail is for whoever builds the application. */
export function messagePage(name: keyof typeof messages, detail?: string): Page {
  const [heading, sentence] = messages[name];
  return page(
    heading,
    `<h1>${heading}</h1>
<p>${sentence}</p>
<p><a class="button" href="/">Go to the start page</a></p>
${detail === undefined ? '' : `<p class="note">For developers: ${escapeHtml(detail)}</p>`}`,
  );
}

/** The page for an OAuth error after which the browser may not go back to the application. */
export function refusalPage({ error, error_description: description = '' }: ErrorOut): Page {
  return error === 'server_error'
    ? messagePage('failed')
    : messagePage('badRequest', `${error} (${description})`);
}

export function signInPage({ interactionId, email, error, asksCode, returnOrigins }: SignInForm): Page {
  const invalid = error === undefined ? '' : ' aria-invalid="true" aria-describedby="error"';
  return page(
    'Sign in',
    `<h1>Sign in</h1>
<form method="post" action="/login">
${error === undefined ? '' : `<p class="error" id="error" role="alert">${escapeHtml(error)}</p>`}
<input type="hidden" name="interaction" value="${escapeHtml(interactionId)}">
${asksCode ? codeField(invalid) : passwordFields(email, invalid)}
<button class="button" type="submit">Sign in</button>
</form>
<p class="note">This is the local sign-in with demo accounts. Their passwords are in <code>ready.json</code> in the data folder.</p>`,
    returnOrigins,
  );
}

function passwordFields(email: string, invalid: string): string {
  const focus = (field: 'email' | 'password') => ((email === '') === (field === 'email') ? ' autofocus' : '');
  return `<label for="email">E-mail</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="320" value="${escapeHtml(email)}"${invalid}${focus('email')}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${invalid}${focus('password')}>`;
}

function codeField(invalid: string): string {
  return `<label for="code">Code of your authenticator app</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" required maxlength="6"${invalid} autofocus>`;
}

export function sendPage(res: ServerResponse, status: number, { html, headers }: Page): void {
  res.writeHead(status, headers).end(html);
}

function page(title: string, main: string, formOrigins: string[] = []): Page {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · ${productName}</title>
<link rel="icon" href="data:,">
<style>${styles}</style>
</head>
<body>
<main>
<p class="product">${mark}${productName}</p>
${main}
</main>
</body>
</html>
`;
  return { html, headers: headersFor(formOrigins) };
}

const styleHash = `'sha256-${createHash('sha256').update(styles).digest('base64')}'`;

function headersFor(formOrigins: string[]): Record<string, string> {
  const policy = [
    "default-src 'none'",
    `style-src ${styleHash}`,
    'img-src data:',
    "font-src 'self'",
    `form-action ${["'self'", ...formOrigins].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
