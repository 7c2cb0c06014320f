import type { Account } from '../../shared/accounts/directory.ts';
import { isoTime } from '../../shared/base/clock.ts';
import { isActive, type License } from '../../shared/licenses/license.ts';
import { licenseNames } from '../../shared/licenses/names.ts';
import { usageFailure } from '../common/failure.ts';
import { keyValues, listOf, readableTime, type Answer } from '../common/output.ts';
import { account as accountValue, nonEmpty, wholeNumber } from '../common/values.ts';
import { eraseAccount } from './account-erase.ts';
import { accessIsTakenAway, type CommandGroup, type Session } from './command.ts';
import { licenseJson } from './license-output.ts';

/** The most that Cognito gives at once. */
const pageSize = 60;
const defaultLimit = 60;

interface ListOptions {
  limit: number;
  cursor?: string;
}

export const accountCommands: CommandGroup = {
  name: 'account',
  description:
    'accounts, which own licenses and sign in to the dashboard: list, show, invite, sign out, disable, enable, recover, erase',
  examples: ['account list', 'account show ada@example.com'],
  commands: [
    {
      name: 'list',
      description: "the user pool's accounts with their licenses, in no particular order",
      options: [
        ['--limit <n>', 'at most so many', wholeNumber(1, 1000), { usual: defaultLimit }],
        ['--cursor <cursor>', 'go on where a list before ended', nonEmpty],
      ],
      run: (options: ListOptions) => (session) => list(session, options),
    },
    {
      name: 'show',
      description: 'one account and its licenses',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      run: (_, text: string) => (session) => show(session, text),
    },
    {
      name: 'sign-out',
      description:
        'end all sessions of an account at once, also of one that is deleted from the pool already',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      asksBefore: accessIsTakenAway,
      run: (_, text: string) => (session) => signOut(session, text, false),
    },
    {
      name: 'disable',
      description: 'the same, and nobody signs in with it any more until it is enabled; its keys work on',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      asksBefore: accessIsTakenAway,
      run: (_, text: string) => (session) => signOut(session, text, true),
    },
    {
      name: 'enable',
      description: 'let people sign in with a disabled account again',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      run: (_, text: string) => async (session) => {
        const { sub } = await session.accounts.find(text);
        await session.accounts.enable(sub);
        return { json: { ownerId: sub, disabled: false }, text: `${sub} can be signed in with again.` };
      },
    },
    {
      name: 'invite',
      description: 'make an account; Cognito mails a temporary password, which is good for seven days',
      operands: [['<mail>', 'the e-mail address', accountValue]],
      run(_, email: string) {
        if (!email.includes('@')) throw usageFailure('An account is invited by its e-mail address.');
        return async ({ accounts }) => {
          const ownerId = await accounts.invite(email);
          return { json: { ownerId, email }, text: `Invited ${email}: the account is ${ownerId}.` };
        };
      },
    },
    {
      name: 'recover',
      description:
        'for who has lost the device with the authenticator app: a sign-in asks for the password alone, and all sessions end',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      asksBefore: accessIsTakenAway,
      run: (_, text: string) => (session) => recover(session, text),
    },
    {
      name: 'erase',
      description:
        'say what would be erased of an account and what stays; with --yes, erase it with its requests and images',
      operands: [['<account>', 'its Cognito sub or its e-mail address', accountValue]],
      options: [['-y, --yes', 'erase it, for good']],
      run:
        ({ yes = false }: { yes?: boolean }, text: string) =>
        (session) =>
          eraseAccount(session, text, yes),
    },
  ],
};

/** An account with its licenses, oldest first. */
interface Owned {
  account: Account;
  licenses: License[];
  names: Map<string, string>;
}

async function owned({ stores }: Session, account: Account): Promise<Owned> {
  const licenses = await stores.licenses.listByOwner(account.sub);
  return { account, licenses, names: licenseNames(licenses) };
}

async function list(session: Session, { limit, cursor }: ListOptions): Promise<Answer> {
  const found: Owned[] = [];
  let next: string | null = cursor ?? null;
  do {
    const page = await session.accounts.list(Math.min(pageSize, limit - found.length), next);
    found.push(...(await Promise.all(page.accounts.map((account) => owned(session, account)))));
    next = page.nextCursor;
  } while (next !== null && found.length < limit);
  const more = next === null ? '' : `\n\nThere are more: --cursor '${next}' goes on.`;
  return {
    json: { accounts: found.map(accountJson), nextCursor: next },
    text: listOf(found, columnsAt(session.nowMs), 'There are no accounts.') + more,
  };
}

const columnsAt = (nowMs: number) => ({
  'E-MAIL': (one: Owned) => one.account.email,
  SUB: (one: Owned) => one.account.sub,
  CREATED: (one: Owned) => readableTime(one.account.createdAtMs),
  STATUS: (one: Owned) => statusOf(one.account),
  LICENSES: (one: Owned) => licensesText(one, nowMs),
});

export async function show(session: Session, text: string): Promise<Answer> {
  const one = await owned(session, await session.accounts.find(text));
  const { account, licenses, names } = one;
  const summary = keyValues([
    ['Account', account.sub],
    ['E-mail', account.email],
    ['Status', statusOf(account)],
    ['Created', readableTime(account.createdAtMs)],
  ]);
  const columns = {
    LICENSE: (license: License) => license.licenseId,
    NAME: (license: License) => names.get(license.licenseId)!,
    TIER: (license: License) => license.tier,
    STATUS: (license: License) => license.status,
    KEYS: (license: License) => (isActive(license, session.nowMs) ? 'accepted' : 'refused'),
  };
  const ofLicenses = listOf(licenses, columns, 'It has no licenses.');
  return { json: accountJson(one), text: `${summary}\n\n${ofLicenses}` };
}

/** Cognito first: a session that is renewed after it was refused would be a new one. */
async function signOut(session: Session, text: string, disable: boolean): Promise<Answer> {
  const { accounts, stores } = session;
  const ownerId = await accounts.ownerId(text);
  const what = `sign the account ${text} out everywhere${disable ? ' and disable it' : ''}`;
  await session.confirm({ what, losses: ['all its sessions end at once'] });
  const endedAtMs = await accounts.signOut(ownerId, disable);
  await stores.accounts.endSessions(ownerId, endedAtMs ?? Date.now());
  const isThere = endedAtMs !== null;
  const state = disable ? ' Nobody signs in with it until it is enabled.' : '';
  const note = isThere ? state : ' The user pool has no such account.';
  return {
    json: { ownerId, isThere, disabled: disable },
    text: `All sessions of ${ownerId} have ended.${note}`,
  };
}

/** Whoever has the lost device may have a session too. */
async function recover(session: Session, text: string): Promise<Answer> {
  const { accounts, stores } = session;
  const { sub, email } = await accounts.find(text);
  const what = `let the account ${email ?? sub} sign in by its password alone`;
  const losses = ['all its sessions end at once', 'the app of before counts no more'];
  await session.confirm({ what, losses });
  await accounts.turnAppOff(sub);
  const endedAtMs = await accounts.signOut(sub, false);
  await stores.accounts.endSessions(sub, endedAtMs ?? Date.now());
  const next =
    'Its owner signs in with the password, or by a code to the e-mail address, and adds an app under Account.';
  return { json: { ownerId: sub, recovered: true }, text: `${sub} needs no app any more. ${next}` };
}

function accountJson({ account, licenses, names }: Owned): Record<string, unknown> {
  const { createdAtMs, ...members } = account;
  const known = ({ licenseId }: License) => ({ name: names.get(licenseId)!, ownerEmail: account.email });
  return {
    ...members,
    createdAt: isoTime(createdAtMs),
    licenses: licenses.map((license) => licenseJson(license, known(license))),
  };
}

function statusOf({ enabled, emailVerified }: Account): string {
  const state = enabled ? 'enabled' : 'disabled';
  return emailVerified ? state : `${state}, e-mail not verified`;
}

function licensesText({ licenses, names }: Owned, nowMs: number): string {
  const texts = licenses.map((license) => {
    const name = names.get(license.licenseId)!;
    if (isActive(license, nowMs)) return name;
    return `${name} (${license.status === 'active' ? 'refused' : license.status})`;
  });
  return texts.length === 0 ? 'none' : texts.join(', ');
}
