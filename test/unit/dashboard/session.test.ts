import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ErrorResponse, ErrorTimeout, User, type UserManager } from 'oidc-client-ts';
import { createSession, type Session } from '../../../dashboard/src/auth/session.ts';

const second = 1000;
const callback = 'https://app.test/callback?code=c1&state=s1';
const account = { id: 'sub-1', email: 'alice@example.com' };

function user(token: string, lifetimeSeconds = 3600, state?: unknown): User {
  const profile = { sub: account.id, email: account.email, iss: 'i', aud: 'a', exp: 0, iat: 0 };
  const tokens = { access_token: token, token_type: 'Bearer', refresh_token: 'refresh-1' };
  const expiresAt = Math.floor(Date.now() / second) + lifetimeSeconds;
  return new User({ ...tokens, profile, expires_at: expiresAt, userState: state });
}

const failing = (error: Error) => async (): Promise<never> => {
  throw error;
};

/** The methods of UserManager that a session uses. A test sets their answers; `log` is their order. */
function fixture() {
  const log: string[] = [];
  const known = new Set(['s1']);
  const given = {
    signedIn: async (): Promise<User> => user('token-1'),
    renewed: async (): Promise<User | null> => user('token-2'),
    isReachable: true,
  };
  let stored: User | null = null;
  const users = {
    settings: { stateStore: { get: async (key: string) => (known.has(key) ? '{}' : null) } },
    getUser: async () => stored,
    clearStaleState: async () => void log.push('clear stale state'),
    signinRedirect: async (args: unknown) => void log.push(`sign in ${JSON.stringify(args)}`),
    async signinRedirectCallback() {
      known.clear();
      return (stored = await given.signedIn());
    },
    async signinSilent() {
      log.push('renew');
      return given.renewed();
    },
    removeUser: async () => void log.push('remove user'),
  };
  const session = createSession({
    users: users as unknown as UserManager,
    revoke: (token) => log.push(`revoke ${token}`),
    signOutUrl: 'https://login.test/logout',
    leave: (url) => log.push(`leave for ${url}`),
    isReachable: async () => given.isReachable,
    keepsSignIn: true,
  });
  const renewals = () => log.filter((entry) => entry === 'renew').length;
  return { session, given, log, renewals, loseRefreshToken: () => delete stored?.refresh_token };
}

type Fixture = ReturnType<typeof fixture>;

async function signedIn(): Promise<Fixture> {
  const made = fixture();
  await made.session.completeSignIn(callback);
  return made;
}

const ended = { code: 'SESSION_ENDED', message: 'Your session has ended. Sign in again to go on.' };
const pass = (seconds: number): Promise<void> => jest.advanceTimersByTimeAsync(seconds * second);

// Moves the clock and runs no timer, as when a laptop sleeps.
const sleep = (seconds: number): void => jest.setSystemTime(Date.now() + seconds * second);
beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => void jest.useRealTimers());

async function expectNoToken(session: Session): Promise<void> {
  await expect(session.replaceToken('token-1')).rejects.toMatchObject(ended);
  await expect(session.accessToken()).rejects.toMatchObject(ended);
}

describe('a sign-in', () => {
  test('is needed at first: there is no token, and nothing that could end', async () => {
    const { session } = fixture();
    await expectNoToken(session);
    session.end();
    expect(session.state()).toEqual({ status: 'none', account: null });
  });

  test('removes the state of earlier sign-ins, remembers the path, and goes nowhere without the service', async () => {
    const { session, log, given } = fixture();
    await session.signIn('/history?status=FAILED');
    given.isReachable = false;
    await expect(session.signIn('/').catch(session.leave)).rejects.toMatchObject({ code: 'NETWORK' });
    expect(log).toEqual(['clear stale state', 'sign in {"state":{"returnTo":"/history?status=FAILED"}}']);
  });

  test('that was completed before is not completed again', async () => {
    const { session } = await signedIn();
    expect(await session.completeSignIn(callback)).toEqual({ kind: 'reused' });
    expect(await session.accessToken()).toBe('token-1');
  });

  const unreachable = "The sign-in could not be completed because the sign-in service can't be reached.";
  const refused = 'The sign-in page refused the sign-in.';
  test.each<[string, string, Error]>([
    ['The sign-in was cancelled.', '&error=access_denied', new ErrorResponse({ error: 'access_denied' })],
    [refused, '&error=server_error', new Error('other')],
    [refused, '', new ErrorResponse({ error: 'invalid_grant' })],
    [unreachable, '', new TypeError('Failed to fetch')],
  ])('that fails says why and leaves nobody signed in: %s', async (sentence, parameters, error) => {
    const { session, given } = fixture();
    given.signedIn = failing(error);
    const result = await session.completeSignIn(`${callback}${parameters}`);
    expect(result).toEqual({ kind: 'refused', sentence });
    expect(session.state().status).toBe('none');
  });
});

describe('after a sign-in the visitor comes back', () => {
  async function returnTo(state: unknown): Promise<string> {
    const { session, given } = fixture();
    given.signedIn = async () => user('token-1', 3600, state);
    const result = await session.completeSignIn(callback);
    return result.kind === 'done' ? result.returnTo : result.kind;
  }

  test('to the path of this app, and to the start page where it is not of this app', async () => {
    const odd = ['\\', '\t', '.', '..', ':', '@', '?', '#', '%2f'];
    const parts = fc.constantFrom('/', 'keys', 'evil.test', 'https:', ...odd);
    const path = fc.array(parts, { maxLength: 6 }).map((some) => some.join(''));
    await fc.assert(
      fc.asyncProperty(path, async (asked) => {
        const place = await returnTo({ returnTo: asked });
        expect([asked, '/']).toContain(place);
        expect(new URL(place, 'https://app.test').origin).toBe('https://app.test');
      }),
    );
    const inApp = '/a?next=https://evil.test#top';
    const elsewhere = ['//evil.test', '/\\evil.test', '/\t/evil.test', 'https://evil.test', 'keys', 7];
    const states = [undefined, ...[inApp, ...elsewhere].map((returnPath) => ({ returnTo: returnPath }))];
    const expected = ['/', inApp, ...elsewhere.map(() => '/')];
    expect(await Promise.all(states.map(returnTo))).toEqual(expected);
  });
});

describe('a renewal', () => {
  test('comes after two thirds of a short life, and a minute before a longer one ends', async () => {
    const { session, given, renewals } = fixture();
    given.signedIn = async () => user('token-1', 90);
    await session.completeSignIn(callback);
    const after: number[] = [];
    for (const seconds of [59, 1, 3539, 1]) {
      await pass(seconds);
      after.push(renewals());
    }
    expect(after).toEqual([0, 1, 1, 2]);
    expect(await session.accessToken()).toBe('token-2');
  });

  test('is shared by the timer and all callers, and all get its token', async () => {
    const { session, given, renewals } = await signedIn();
    const gate = Promise.withResolvers<User>();
    given.renewed = () => gate.promise;
    await pass(3540);
    sleep(60);
    const asked = [1, 2, 3].flatMap(() => [session.accessToken(), session.replaceToken('token-1')]);
    await pass(0);
    gate.resolve(user('token-2'));
    expect(await Promise.all(asked)).toEqual(Array(6).fill('token-2'));
    expect(renewals()).toBe(1);
  });

  test('is made for the current token, and not for one that was replaced already', async () => {
    const { session, given, renewals } = await signedIn();
    expect(await session.replaceToken('token-1')).toBe('token-2');
    expect(await session.replaceToken('token-1')).toBe('token-2');
    expect(renewals()).toBe(1);
    given.renewed = async () => user('token-3');
    expect(await session.replaceToken('token-2')).toBe('token-3');
  });
});

describe('a renewal that fails', () => {
  const refuse = (error: string) => (made: Fixture) =>
    void (made.given.renewed = failing(new ErrorResponse({ error })));
  test.each<[string, (made: Fixture) => void, number]>([
    ['with invalid_grant', refuse('invalid_grant'), 1],
    ['with invalid_client', refuse('invalid_client'), 1],
    ['with unauthorized_client', refuse('unauthorized_client'), 1],
    ['without a refresh token', ({ loseRefreshToken }) => loseRefreshToken(), 0],
    ['without a user in the answer', ({ given }) => (given.renewed = async () => null), 1],
  ])('%s ends the session, and the account stays on the screen', async (_, change, tries) => {
    const made = await signedIn();
    change(made);
    await expectNoToken(made.session);
    expect(made.session.state()).toEqual({ status: 'ended', account });
    await pass(7200);
    expect(made.renewals()).toBe(tries);
  });

  test.each<[string, Error]>([
    ['no network', new TypeError('Failed to fetch')],
    ['no answer in time', new ErrorTimeout('Network timed out')],
    ['a server that is out of order', new ErrorResponse({ error: 'server_error' })],
    ['an answer of somebody else', new Error('Invalid response Content-Type: text/html')],
  ])('for %s does not end it: the next request tries again', async (_why, error) => {
    const { session, given } = await signedIn();
    given.renewed = failing(error);
    await expect(session.replaceToken('token-1')).rejects.toMatchObject({ code: 'NETWORK', status: 0 });
    expect(session.state()).toEqual({ status: 'active', account });
    expect(await session.accessToken()).toBe('token-1');
    given.renewed = async () => user('token-2');
    expect(await session.replaceToken('token-1')).toBe('token-2');
  });

  test('by the timer has no effect until a token is needed', async () => {
    const { session, given } = await signedIn();
    given.renewed = failing(new TypeError('Failed to fetch'));
    await pass(3540);
    expect(await session.accessToken()).toBe('token-1');
    await pass(60);
    await expect(session.accessToken()).rejects.toMatchObject({ code: 'NETWORK' });
    given.renewed = async () => user('token-2');
    expect(await session.accessToken()).toBe('token-2');
  });
});

describe('a sign-out', () => {
  test('forgets the tokens first, revokes the one that renews, and leaves the page', async () => {
    const { session, log } = await signedIn();
    const seen: unknown[] = [];
    session.subscribe(() => seen.push([session.state(), [...log]]));
    await Promise.all([session.signOut().then(session.leave), expectNoToken(session)]);
    expect(seen).toEqual([[{ status: 'left', account: null }, ['revoke refresh-1']]]);
    expect(log).toEqual(['revoke refresh-1', 'remove user', 'leave for https://login.test/logout']);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('is final: a renewal that was under way does not restore the session, and what it got is revoked', async () => {
    const { session, given, log } = await signedIn();
    const gate = Promise.withResolvers<User>();
    given.renewed = () => gate.promise;
    const refused = expect(session.replaceToken('token-1')).rejects.toMatchObject(ended);
    await pass(0);
    await session.signOut();
    const late = user('token-2');
    late.refresh_token = 'refresh-2';
    gate.resolve(late);
    await refused;
    expect(log.at(-1)).toBe('revoke refresh-2');
    expect(session.state()).toEqual({ status: 'left', account: null });
    await expectNoToken(session);
    expect(jest.getTimerCount()).toBe(0);
  });
});
