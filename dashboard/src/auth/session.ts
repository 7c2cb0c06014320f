import { ErrorResponse, type User, type UserManager } from 'oidc-client-ts';
import { useSyncExternalStore } from 'react';
import { ApiError, networkError, sessionEnded } from '../api/api-error.ts';
import type { TokenSource } from '../api/client.ts';
import { createStore } from '../lib/store.ts';
import { createRequiredContext } from '../lib/required-context.ts';

/** Enough for every call of the API. */
export const usualScope = 'openid email profile';

interface Account {
  id: string;
  email: string | null;
}

/** `none` before the sign-in, `left` after the sign-out, `ended` when it can't be renewed; the screen then stays as it is. */
export type SessionState =
  { status: 'none' | 'left'; account: null } | { status: 'active' | 'ended'; account: Account };

export type SignInResult =
  | { kind: 'done'; returnTo: string }
  /** This address was used before: somebody went back to it. */
  | { kind: 'reused' }
  | { kind: 'refused'; sentence: string };

export interface Session extends TokenSource {
  state(): SessionState;
  subscribe(listener: () => void): () => void;
  /**
   * Goes to the sign-in page, which comes back to `returnTo`, a path of this app.
   * @param wider a scope beside the usual ones: the password is asked for anew, and the token has it until the page is left
   * @throws where it can't be reached or completed
   */
  signIn(returnTo: string, wider?: string): Promise<void>;
  /** Whether there is a token, and it has a scope. */
  hasScope(scope: string): boolean;
  completeSignIn(url: string): Promise<SignInResult>;
  /** Forgets the tokens and has the refresh token revoked. Then `leave`. */
  signOut(): Promise<void>;
  /** Goes to the login domain's sign-out. @throws where it can't be reached */
  leave(): Promise<void>;
}

interface SessionOptions {
  users: UserManager;
  /** Asks the user pool to take no refresh of a sign-in any more. Nobody waits for it, so it must not reject. */
  revoke: (refreshToken: string) => void;
  signOutUrl: string;
  leave: (url: string) => void;
  isReachable: () => Promise<boolean>;
  /** Whether this browser keeps the state of a sign-in while it is away. */
  keepsSignIn: boolean;
}

export function createSession({ users, revoke, signOutUrl, ...browser }: SessionOptions): Session {
  const revokeTokensOf = (user: User | null): void => {
    if (user?.refresh_token !== undefined) revoke(user.refresh_token);
  };
  const checkReachable = async (): Promise<void> => {
    if (!(await browser.isReachable())) throw networkError();
  };
  const held = holdUser(users, revokeTokensOf);
  return {
    state: held.state,
    subscribe: held.subscribe,
    async accessToken() {
      const user = held.user();
      // The timer may be late: timers stop while a laptop sleeps.
      return user.expired ? held.renew() : user.access_token;
    },
    async replaceToken(refused) {
      const user = held.user();
      return user.access_token === refused ? held.renew() : user.access_token;
    },
    end: held.end,
    async signIn(returnTo, wider) {
      if (!browser.keepsSignIn) throw new Error('This browser keeps no state of a sign-in.');
      await checkReachable();
      await users.clearStaleState();
      const anew = wider !== undefined && { prompt: 'login', scope: `${usualScope} ${wider}` };
      await users.signinRedirect({ state: { returnTo }, ...anew });
    },
    hasScope: (scope) => held.state().status === 'active' && held.user().scopes.includes(scope),
    completeSignIn: (url) => completeSignIn(users, url, held.take),
    async signOut() {
      held.forget();
      await users.removeUser();
    },
    async leave() {
      await checkReachable();
      browser.leave(signOutUrl);
    },
  };
}

/** Keeps the signed-in user, and renews the tokens before they expire. */
function holdUser(users: UserManager, revokeTokensOf: (user: User | null) => void) {
  const store = createStore<SessionState>({ status: 'none', account: null });
  let user: User | null = null;
  let renewal: Promise<string> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const become = (next: SessionState, held: User | null): void => {
    clearTimeout(timer);
    user = held;
    store.set(next);
  };
  const take = (taken: User): void => {
    become({ status: 'active', account: accountOf(taken) }, taken);
    // The next request that needs a token tries again, and reports the failure.
    timer = setTimeout(() => void renew().catch(() => {}), renewInMs(taken));
  };
  const end = (): void => {
    const state = store.get();
    if (state.status === 'active') become({ status: 'ended', account: state.account }, null);
  };
  const renewOnce = async (): Promise<string> => {
    try {
      const renewed = await fetchNewTokens(users);
      if (store.get().status !== 'active') {
        revokeTokensOf(renewed);
        throw sessionEnded();
      }
      take(renewed);
      return renewed.access_token;
    } catch (error) {
      if (!meansTheEnd(error)) throw networkError();
      end();
      throw sessionEnded();
    }
  };
  // A refresh token works once, so all callers wait for the same renewal.
  const renew = (): Promise<string> => (renewal ??= renewOnce().finally(() => (renewal = null)));

  return {
    take,
    end,
    renew,
    state: store.get,
    subscribe: store.subscribe,
    user(): User {
      if (user === null) throw sessionEnded();
      return user;
    },
    forget(): void {
      revokeTokensOf(user);
      become({ status: 'left', account: null }, null);
    },
  };
}

async function fetchNewTokens(users: UserManager): Promise<User> {
  const held = await users.getUser();
  if (held?.refresh_token === undefined) throw sessionEnded();
  const renewed = await users.signinSilent();
  if (renewed === null) throw sessionEnded();
  return renewed;
}

async function completeSignIn(
  users: UserManager,
  url: string,
  take: (user: User) => void,
): Promise<SignInResult> {
  const answer = new URL(url).searchParams;
  const key = answer.get('state');
  const known = key !== null && (await users.settings.stateStore.get(key)) !== null;
  if (!known && !answer.has('error')) return { kind: 'reused' };
  try {
    const user = await users.signinRedirectCallback(url);
    take(user);
    return { kind: 'done', returnTo: returnPath(user.state) };
  } catch (error) {
    return { kind: 'refused', sentence: signInProblem(error, answer.get('error')) };
  }
}

/** Accepts only a path of this app: `//elsewhere` would be another site. */
function returnPath(data: unknown): string {
  const path = typeof data === 'object' && data !== null && 'returnTo' in data ? data.returnTo : null;
  const app = 'https://app.invalid';
  const isOurs = typeof path === 'string' && path.startsWith('/') && URL.parse(path, app)?.origin === app;
  return isOurs ? path : '/';
}

function signInProblem(error: unknown, code: string | null): string {
  if (code === 'access_denied') return 'The sign-in was cancelled.';
  if (code !== null || error instanceof ErrorResponse) return 'The sign-in page refused the sign-in.';
  return "The sign-in could not be completed because the sign-in service can't be reached.";
}

/** An OAuth refusal (RFC 6749, 5.2) ends the session. A missing answer or a failing server does not. */
function meansTheEnd(error: unknown): boolean {
  if (error instanceof ApiError) return true;
  return error instanceof ErrorResponse && /^(invalid_|unauthorized_|access_denied)/.test(error.error ?? '');
}

/** A minute before the token expires, or after two thirds of a short lifetime. */
function renewInMs({ expires_in: seconds = 0 }: User): number {
  return Math.max(seconds - Math.min(60, seconds / 3), 1) * 1000;
}

function accountOf({ profile }: User): Account {
  return { id: profile.sub, email: profile.email ?? null };
}

export const [SessionContext, useSession] = createRequiredContext<Session>('SessionContext');

export function useSessionState(): SessionState {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, session.state);
}

/** The signed-in account. Use it below `RequireSession` only. */
export function useAccount(): Account | null {
  return useSessionState().account;
}
