import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { countAttempts } from './attempts.ts';
import { messagePage, sendPage, signInPage, type SignInForm } from './pages.ts';
import type { Account, UserPoolOptions } from './user-pool.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** More than any form of ours can hold. */
const maxFormBytes = 16 * 1024;

/** Answers `/login`: shows the form, and takes it. */
export function createSignIn(provider: Provider, options: UserPoolOptions) {
  const check = passwordCheck(options.accounts);
  const show = (res: ServerResponse, status: number, form: Omit<SignInForm, 'returnOrigins'>) =>
    sendPage(res, status, signInPage({ ...form, returnOrigins: foreignOrigins(options) }));

  const take = async (req: IncomingMessage, res: ServerResponse, interaction: Interaction) => {
    const form = await readForm(req);
    if (form === null) {
      res.setHeader('connection', 'close');
      return sendPage(res, 413, messagePage('formTooLarge'));
    }
    // Another site can't know it: only a form that this browser was given is taken.
    if (form.get('interaction') !== interaction.uid) return sendPage(res, 400, messagePage('startAgain'));
    const email = (form.get('email') ?? '').trim();
    const found = check(email, form.get('password') ?? '');
    const filled = { interactionId: interaction.uid, email };
    if (found === 'tooMany') {
      res.setHeader('retry-after', '60');
      return show(res, 429, { ...filled, error: 'There were too many wrong tries. Try again in a minute.' });
    }
    if (found === 'wrong')
      return show(res, 400, { ...filled, error: 'The e-mail or the password is wrong.' });
    await endOtherSession(provider, interaction, found);
    const returnTo = await provider.interactionResult(req, res, { login: { accountId: found.sub } });
    // Its path alone: its host was made of a header that anyone can write.
    res.writeHead(303, { location: new URL(returnTo).pathname, 'cache-control': 'no-store' }).end();
  };

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const { search, searchParams } = new URL(req.url ?? '', options.baseUrl);
    // Cognito's sign-in page can be opened directly, with what the authorization endpoint takes.
    if (req.method !== 'POST' && searchParams.has('client_id')) {
      res.writeHead(302, { location: `/oauth2/authorize${search}`, 'cache-control': 'no-store' }).end();
      return;
    }
    try {
      const interaction = await provider.interactionDetails(req, res);
      if (req.method === 'POST') return await take(req, res, interaction);
      const { login_hint: hint } = interaction.params;
      show(res, 200, { interactionId: interaction.uid, email: typeof hint === 'string' ? hint : '' });
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      sendPage(res, 400, messagePage('startAgain'));
    }
  };
}

/** One who signs in as somebody else ends the former session; the provider would ask about that on a page of its own. */
async function endOtherSession(
  provider: Provider,
  interaction: Interaction,
  { sub }: Account,
): Promise<void> {
  const { session } = interaction;
  if (session?.uid === undefined || session.accountId === sub) return;
  await (await provider.Session.findByUid(session.uid))?.destroy();
  delete interaction.session;
  await interaction.persist();
}

/** @returns the account, or why there is none: an unknown e-mail address and a wrong password are one answer. */
function passwordCheck(accounts: Account[]) {
  const byEmail = new Map(accounts.map((account) => [account.email.toLowerCase(), account]));
  const attempts = countAttempts();
  return (email: string, password: string): Account | 'wrong' | 'tooMany' => {
    const name = email.toLowerCase();
    if (attempts.exhausted(name)) return 'tooMany';
    const account = byEmail.get(name);
    const equal = timingSafeEqual(digest(password), digest(account?.password ?? ''));
    if (!account || !equal) {
      attempts.failed(name);
      return 'wrong';
    }
    attempts.succeeded(name);
    return account;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Browsers ask a page's policy about redirects after its form, too. */
function foreignOrigins({ baseUrl, redirectUris }: UserPoolOptions): string[] {
  const origins = new Set(redirectUris.map((uri) => new URL(uri).origin));
  origins.delete(new URL(baseUrl).origin);
  return [...origins];
}

/** @returns null when the body is larger than any form of ours; the rest of it is not read. */
async function readForm(req: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection must live on, to carry the refusal.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxFormBytes) return null;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString());
}
