import type { Account, AccountDirectory, AccountPage } from '../../shared/accounts/directory.ts';
import { Failure } from './failure.ts';

/** A Cognito user pool, and where its API is if not at AWS. */
export interface UserPool {
  id: string;
  cognitoUrl: string | null;
}

/** The most pages of a pool that are read to show addresses: 1,200 accounts. */
const maxPages = 20;

export type Accounts = ReturnType<typeof openAccounts>;

/** The accounts behind the owners of licenses. @param pool null where the place does not say which it is. */
export function openAccounts(pool: UserPool | null) {
  const directory = async (): Promise<AccountDirectory> => {
    if (pool === null) {
      throw new Failure(
        'The user pool is not known here: name the stack with --stack, or an account by its sub.',
      );
    }
    // Imported late, because the AWS SDK takes long to load.
    const { accountDirectory } = await import('../../shared/accounts/directory.ts');
    return accountDirectory(pool.id, pool.cognitoUrl);
  };
  const ask = async <T>(question: (known: AccountDirectory) => Promise<T>): Promise<T> => {
    const known = await directory();
    return question(known).catch((error: unknown) => {
      throw new Failure(sentenceFor(error, pool!.id), 1, { cause: error });
    });
  };

  /** @param account a sub, or an e-mail address. @throws Failure when there is no such account, or more than one. */
  const find = async (account: string): Promise<Account> => {
    const isEmail = account.includes('@');
    const found = await ask((known) => (isEmail ? known.byEmail(account) : known.bySub(account)));
    if (found !== null) return found;
    throw new Failure(isEmail ? 'No account has this e-mail address.' : `There is no account ${account}.`);
  };

  /** The addresses of these accounts, as far as they can be found; never a reason to fail. */
  const emailsOf = async (subs: readonly string[]): Promise<Map<string, string>> => {
    if (pool === null || subs.length === 0) return new Map();
    // An operator who may not read the pool works with subs.
    const accounts = await lookUp(await directory(), subs).catch(() => []);
    return new Map(accounts.flatMap(({ sub, email }) => (email === null ? [] : [[sub, email]])));
  };

  return {
    poolId: pool?.id ?? null,
    find,
    emailsOf,
    isGone: async (sub: string) => (await ask((known) => known.bySub(sub))) === null,
    /**
     * Who a new license is for. An invited account that has not signed in yet is one like others.
     * @throws Failure where nobody can sign in with the account.
     */
    async newOwnerId(owner: string): Promise<string> {
      const { sub, enabled, status } = await find(owner);
      if (!enabled) throw new Failure(`The account ${owner} is disabled.`);
      if (status !== 'UNCONFIRMED') return sub;
      throw new Failure(`The account ${owner} has not confirmed its e-mail address.`);
    },
    /** The owner of a license, as it is stored. A sub is taken as it is: nothing need be asked. */
    async ownerId(owner: string): Promise<string> {
      return owner.includes('@') ? (await find(owner)).sub : owner;
    },
    turnAppOff: (sub: string) => ask((known) => known.turnAppOff(sub)),
    signOut: (sub: string, disable: boolean) => ask((known) => known.signOut(sub, disable)),
    invite: (email: string) => ask((known) => known.invite(email)),
    enable: (sub: string) => ask((known) => known.enable(sub)),
    remove: (sub: string) => ask((known) => known.remove(sub)),
    list: (limit: number, cursor: string | null) => ask((known) => known.list(limit, cursor)),
  };
}

/** Reads the pool once, not once for each account. A pool may be too large to find all of them. */
async function lookUp(directory: AccountDirectory, subs: readonly string[]): Promise<Account[]> {
  if (subs.length === 1) {
    const account = await directory.bySub(subs[0]!);
    return account === null ? [] : [account];
  }
  const wanted = new Set(subs);
  const found: Account[] = [];
  let cursor: string | null = null;
  for (let i = 0; i < maxPages; i++) {
    const page: AccountPage = await directory.list(60, cursor);
    found.push(...page.accounts.filter(({ sub }) => wanted.delete(sub)));
    cursor = page.nextCursor;
    if (cursor === null || wanted.size === 0) break;
  }
  return found;
}

/** Errors have the name that Cognito gives them, and never an address. */
function sentenceFor(error: unknown, poolId: string): string {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'SeveralAccountsError')
    return `${message} Name the one that you mean by its sub: see "account list".`;
  if (name === 'ResourceNotFoundException') return `There is no user pool ${poolId} in this region.`;
  if (name === 'NotAuthorizedException' || name === 'AccessDeniedException') {
    return `You may not do that in the user pool ${poolId}: see docs/deploying.md for what the CLI needs.`;
  }
  if (name === 'UsernameExistsException') return 'There is an account with this e-mail address already.';
  if (name === 'InvalidParameterException')
    return 'Cognito refused what was asked: check the e-mail address, or take a --cursor of this pool.';
  return `The user pool ${poolId} can't be asked: ${message} (${name}).`;
}
