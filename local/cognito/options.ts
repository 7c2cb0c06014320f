import type { JWK } from 'jose';
import { accountScope } from '../../shared/accounts/password.ts';
import type { SigningScope } from '../http/signed.ts';

export interface Account {
  /** A UUID; also the user name, as in pools whose users sign in with their e-mail address. */
  sub: string;
  email: string;
  password: string;
  /** False once an operator has disabled it. @default true */
  enabled?: boolean;
  /** When it was last signed out everywhere; refresh tokens from before are refused. */
  signedOutAtMs?: number;
  /** Of its authenticator app, in base32; a code of it is asked for while it is on. */
  totp?: { secret: string; isOn: boolean };
  /** @default CONFIRMED */
  status?: 'CONFIRMED' | 'UNCONFIRMED' | 'FORCE_CHANGE_PASSWORD';
}

/** Who may ask the user pools API. */
export type ApiSigning = Omit<SigningScope, 'service'>;

export interface UserPoolOptions {
  /** The origin where everything is served, without a slash at its end: `http://127.0.0.1:4600`. */
  baseUrl: string;
  /** Private RS256 JWK with a `kid`; the caller keeps it, so that tokens outlive a restart. */
  signingKey: JWK;
  accounts: Account[];
  /** The one app client; it is public and has no secret. */
  clientId: string;
  /** Where a sign-in may return to; each is matched exactly. */
  redirectUris: string[];
  /** Where a sign-out may return to; each is matched exactly. */
  logoutUris: string[];
  /** Lifetime of access and ID tokens. */
  accessTokenSeconds: number;
  apiSigning: ApiSigning;
  /** In place of the invitation's e-mail, which has the temporary password. */
  onInvite?: ((account: Account) => void) | undefined;
}

/** The scopes that an app client of the pool may ask for. */
export const knownScopes = ['openid', 'email', 'profile', accountScope];
