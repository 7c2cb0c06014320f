import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import Provider, { errors } from 'oidc-provider';
import { readBody } from '../http/read-body.ts';
import type { Account, UserPoolOptions } from './options.ts';
import { isCodeOf } from './totp.ts';
import { messagePage, sendPage, signInPage, type SignInForm } from './pages.ts';

type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** More than the sign-in form can hold. */
const maxFormBytes = 16 * 1024;

/** Answers `/login`: shows the form, and takes it. */
export function createSignIn(provider: Provider, options: UserPoolOptions) {
  const show = (res: ServerResponse, status: number, form: Omit<SignInForm, 'returnOrigins'>) =>
    sendPage(res, status, signInPage({ ...form, returnOrigins: foreignOrigins(options) }));

  // Who gave a right password and owes the code of an app, by the interaction. Both end with the service.
  const owing = new Map<string, Account>();

  const take = async (req: IncomingMessage, res: ServerResponse, interaction: Interaction) => {
    const body = await readBody(req, maxFormBytes);
    if (body === null) {
      res.setHeader('connection', 'close');
      return sendPage(res, 413, messagePage('badRequest'));
    }
    const form = new URLSearchParams(body.toString());
    // Other sites can't know the id, so only a form that this browser was given is accepted.
    if (form.get('interaction') !== interaction.uid) return sendPage(res, 400, messagePage('startAgain'));
    const interactionId = interaction.uid;
    const code = form.get('code');
    const email = (form.get('email') ?? '').trim();
    const found =
      code === null
        ? accountOf(options.accounts, email, form.get('password') ?? '')
        : (owing.get(interactionId) ?? null);
    if (found === null) {
      const error = 'The e-mail or the password is wrong.';
      return show(res, 400, { interactionId, email, error });
    }
    if (found.totp?.isOn && !isCodeOf(found.totp.secret, code ?? '')) {
      owing.set(interactionId, found);
      const wrong = code === null ? {} : { error: 'The code is wrong.' };
      return show(res, code === null ? 200 : 400, { interactionId, email: '', asksCode: true, ...wrong });
    }
    owing.delete(interactionId);
    await endOtherSession(provider, interaction, found);
    const returnTo = await provider.interactionResult(req, res, { login: { accountId: found.sub } });
    // Only its path: its host comes from a header that anyone can write.
    res.writeHead(303, { location: new URL(returnTo).pathname, 'cache-control': 'no-store' }).end();
  };

  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
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

/** An unknown e-mail address and a wrong password have the same answer. Passwords are random, so wrong ones are not counted. */
function accountOf(accounts: Account[], email: string, password: string): Account | null {
  const account = accounts.find((one) => one.email.toLowerCase() === email.toLowerCase());
  const isRight = timingSafeEqual(digest(password), digest(account?.password ?? ''));
  return account !== undefined && account.enabled !== false && isRight ? account : null;
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
