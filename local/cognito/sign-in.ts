import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { readBody } from '../http/read-body.ts';
import type { Account, UserPoolOptions } from './options.ts';
import { messagePage, sendPage, signInPage, type SignInForm } from './pages.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** More than the sign-in form can hold. */
const maxFormBytes = 16 * 1024;

/** As many wrong passwords as one e-mail address gets within a minute. */
const maxFailures = 10;
const failureWindowMs = 60_000;
/** Visitors may type any e-mail address: the oldest are forgotten. */
const maxCountedNames = 1000;

/** Answers `/login`: shows the form, and takes it. */
export function createSignIn(provider: Provider, options: UserPoolOptions) {
  const check = passwordCheck(options.accounts);
  const show = (res: ServerResponse, status: number, form: Omit<SignInForm, 'returnOrigins'>) =>
    sendPage(res, status, signInPage({ ...form, returnOrigins: foreignOrigins(options) }));

  const take = async (req: IncomingMessage, res: ServerResponse, interaction: Interaction) => {
    const body = await readBody(req, maxFormBytes);
    if (body === null) {
      res.setHeader('connection', 'close');
      return sendPage(res, 413, messagePage('formTooLarge'));
    }
    const form = new URLSearchParams(body.toString());
    // Other sites can't know the id, so only a form that this browser was given is accepted.
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
    // Only its path: its host comes from a header that anyone can write.
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
      show(res, 200, { interactionId: interaction.uid, email: '' });
    } catch (error) {
      if (!(error instanceof errors.SessionNotFound)) throw error;
      sendPage(res, 400, messagePage('startAgain'));
    }
  };
}

/** A sign-in as another account ends the former session. The provider would ask about that on a page of its own. */
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

/** @returns the account, or why there is none. An unknown e-mail address and a wrong password have the same answer. */
function passwordCheck(accounts: Account[]) {
  const byEmail = new Map(accounts.map((account) => [account.email.toLowerCase(), account]));
  const failures = countFailures();
  return (email: string, password: string): Account | 'wrong' | 'tooMany' => {
    const name = email.toLowerCase();
    if (failures.exhausted(name)) return 'tooMany';
    const account = byEmail.get(name);
    const equal = timingSafeEqual(digest(password), digest(account?.password ?? ''));
    if (!account || !equal) {
      failures.add(name);
      return 'wrong';
    }
    failures.forget(name);
    return account;
  };
}

/** Counts wrong passwords by e-mail address. */
function countFailures() {
  const failures = new Map<string, number[]>();
  const recent = (name: string) =>
    (failures.get(name) ?? []).filter((failedMs) => failedMs > Date.now() - failureWindowMs);
  return {
    exhausted: (name: string) => recent(name).length >= maxFailures,
    add(name: string) {
      const times = [...recent(name), Date.now()];
      failures.delete(name);
      failures.set(name, times);
      if (failures.size > maxCountedNames) failures.delete(failures.keys().next().value!);
    },
    forget: (name: string) => void failures.delete(name),
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A browser applies the page's policy to redirects after its form, too. */
function foreignOrigins({ baseUrl, redirectUris }: UserPoolOptions): string[] {
  const sources = redirectUris.map((uri) => new URL(uri));
  const origins = new Set(sources.map(({ origin, protocol }) => (origin === 'null' ? protocol : origin)));
  origins.delete(new URL(baseUrl).origin);
  return [...origins];
}
