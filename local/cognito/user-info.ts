import type { IncomingMessage, ServerResponse } from 'node:http';
import { verifyAccessToken } from './tokens.ts';
import type { UserPoolOptions } from './user-pool.ts';

/** Answers `/oauth2/userInfo`; it needs an access token with the scope `openid`. */
export function createUserInfo(options: UserPoolOptions, issuer: string) {
  return async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const token = /^Bearer (\S+)$/i.exec(req.headers.authorization ?? '')?.[1] ?? '';
    const claims = await verifyAccessToken(token, { ...options, issuer }).catch(() => null);
    const account = options.accounts.find(({ sub }) => sub === claims?.sub);
    const scopes = String(claims?.scope).split(' ');
    res.setHeader('content-type', 'application/json').setHeader('cache-control', 'no-store');
    if (!account || !scopes.includes('openid')) {
      const error = {
        error: 'invalid_token',
        error_description: 'The access token is invalid or has expired.',
      };
      res.writeHead(401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end(JSON.stringify(error));
      return;
    }
    const { sub, email } = account;
    // A string and not a boolean: Cognito's attributes are strings here.
    res.writeHead(200).end(JSON.stringify({ sub, email, email_verified: 'true', username: sub }));
  };
}
