import { S3Client } from '@aws-sdk/client-s3';
import { awsUrl, signedFetch } from '../base/signed-fetch.ts';

const withinMs = 5000;

export interface Account {
  /** What licenses name as their owner. */
  sub: string;
  /** Null where the account has none. */
  email: string | null;
  emailVerified: boolean;
  /** False once the operator has disabled it: its owner can't sign in. */
  enabled: boolean;
  /** Cognito's `UserStatus`: UNCONFIRMED until the owner of the address has said that it is theirs. */
  status: string;
  createdAtMs: number;
}

export interface AccountPage {
  accounts: Account[];
  /** Null after the last page. */
  nextCursor: string | null;
}

/** What is read of an answer. */
interface ListedUsers {
  Users?: {
    Attributes?: { Name: string; Value?: string }[];
    Enabled?: boolean;
    UserStatus?: string;
    /** Seconds since 1970. */
    UserCreateDate?: number;
  }[];
  PaginationToken?: string;
}

interface InvitedUser {
  User: { Attributes: { Name: string; Value: string }[] };
}

export type AccountDirectory = ReturnType<typeof accountDirectory>;

/**
 * The accounts of a Cognito user pool (Amazon Cognito user pools API, "ListUsers"). Cognito may list an account some
 * seconds after it was made or changed.
 * @param cognitoUrl of the user pools API, where it is not AWS's own.
 */
export function accountDirectory(userPoolId: string, cognitoUrl: string | null) {
  // Any client knows the region and the credentials.
  const { config } = new S3Client({});
  const send = signedFetch('cognito-idp', config);

  const call = async (operation: string, parameters: object): Promise<Response> => {
    const answer = await send({
      url: cognitoUrl === null ? awsUrl('cognito-idp', await config.region()) : `${cognitoUrl}/`,
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
      },
      body: JSON.stringify({ UserPoolId: userPoolId, ...parameters }),
      withinMs,
    });
    if (!answer.ok) throw await refusal(answer);
    return answer;
  };

  const listUsers = async (parameters: object): Promise<AccountPage> => {
    const answer = (await (await call('ListUsers', parameters)).json()) as ListedUsers;
    const { Users: users = [], PaginationToken: nextCursor = null } = answer;
    return { accounts: users.map(accountOf), nextCursor };
  };

  /** A page may be empty although another follows. */
  const search = async (filter: string): Promise<Account[]> => {
    const found: Account[] = [];
    let cursor: string | null = null;
    do {
      const page: AccountPage = await listUsers({
        Filter: filter,
        ...(cursor && { PaginationToken: cursor }),
      });
      found.push(...page.accounts);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return found;
  };

  return {
    /** @returns null where there is no such account. */
    async bySub(sub: string): Promise<Account | null> {
      return (await search(`sub = ${quoted(sub)}`))[0] ?? null;
    },

    /**
     * By an address in any case of its letters.
     * @throws Error named SeveralAccountsError when several accounts have it: none of them may be taken for the other.
     */
    async byEmail(email: string): Promise<Account | null> {
      // Cognito's documentation does not say whether this filter heeds case.
      for (const spelling of new Set([email, email.toLowerCase()])) {
        const [account = null, ...others] = await search(`email = ${quoted(spelling)}`);
        if (others.length > 0) throw severalAccounts();
        if (account !== null) return account;
      }
      return null;
    },

    /**
     * Ends what renews an account's sessions, and its new sign-ins where it is disabled. Cognito takes a sub as a user name.
     * @returns when that was by Cognito's clock, to the second; null where there is no such account.
     */
    async signOut(sub: string, disable: boolean): Promise<number | null> {
      try {
        if (disable) await call('AdminDisableUser', { Username: sub });
        const answer = await call('AdminUserGlobalSignOut', { Username: sub });
        return Date.parse(answer.headers.get('date') ?? '') || Date.now();
      } catch (error) {
        if (isUnknownUser(error)) return null;
        throw error;
      }
    },

    /** Makes an account with this address; Cognito mails it a temporary password. @returns its sub */
    async invite(email: string): Promise<string> {
      const UserAttributes = [
        { Name: 'email', Value: email },
        { Name: 'email_verified', Value: 'true' },
      ];
      const parameters = { Username: email, UserAttributes, DesiredDeliveryMediums: ['EMAIL'] };
      const { User: user } = (await (await call('AdminCreateUser', parameters)).json()) as InvitedUser;
      return user.Attributes.find(({ Name }) => Name === 'sub')!.Value;
    },

    async enable(sub: string): Promise<void> {
      await call('AdminEnableUser', { Username: sub });
    },

    /** A sign-in asks for no code of an app any more. In a pool that requires one Cognito takes this and goes on to ask. */
    async turnAppOff(sub: string): Promise<void> {
      const off = { Enabled: false, PreferredMfa: false };
      await call('AdminSetUserMFAPreference', { Username: sub, SoftwareTokenMfaSettings: off });
    },

    /** Deletes an account, if it is there. */
    async remove(sub: string): Promise<void> {
      await call('AdminDeleteUser', { Username: sub }).catch((error: unknown) => {
        if (!isUnknownUser(error)) throw error;
      });
    },

    /** In no order that Cognito promises. @param cursor of the page before. */
    list(limit: number, cursor: string | null): Promise<AccountPage> {
      return listUsers({ Limit: limit, ...(cursor !== null && { PaginationToken: cursor }) });
    },
  };
}

function isUnknownUser(error: unknown): boolean {
  return error instanceof Error && error.name === 'UserNotFoundException';
}

function severalAccounts(): Error {
  const error = new Error('Several accounts have this e-mail address.');
  return Object.assign(error, { name: 'SeveralAccountsError' });
}

/** A value inside a filter. */
function quoted(value: string): string {
  return `"${value.replace(/["\\]/g, String.raw`\$&`)}"`;
}

/** An error by the name that Cognito gives it. Its message may repeat an address, so it is left out. */
async function refusal(answer: Response): Promise<Error> {
  const body: unknown = await answer.json().catch(() => null);
  const type = (body as { __type?: unknown } | null)?.__type;
  const error = new Error(`Cognito answered with status ${answer.status}`);
  if (typeof type === 'string') error.name = type.split('#').at(-1)!;
  return error;
}

function accountOf(user: NonNullable<ListedUsers['Users']>[number]): Account {
  const { Attributes: attributes = [], Enabled: enabled = true, UserStatus: status = 'UNKNOWN' } = user;
  const { UserCreateDate: createdAt = 0 } = user;
  const valueOf = (name: string) => attributes.find((attribute) => attribute.Name === name)?.Value;
  return {
    sub: valueOf('sub') ?? '',
    email: valueOf('email') ?? null,
    emailVerified: valueOf('email_verified') === 'true',
    enabled,
    status,
    createdAtMs: Math.round(createdAt * 1000),
  };
}
