import { expect, test } from '@jest/globals';
import { Browser } from '../engine/local/cognito/support.ts';
import { until } from '../support/until.ts';
import { useService } from '../support/use-service.ts';
import { judgePath } from './tools.ts';

const address = 'http://localhost:8765/signed/in';
const service = useService({ args: ['--allow-callback', address] });

test('openid-client, which is certified, signs in with what npm start prints', async () => {
  const oidc = await import(judgePath('openid-client/build/index.js'));
  await until('all is printed', () => service.output().includes('Sign-out'));
  const [, issuer, clientId] = /Issuer +(\S+)\s+Client id +(\S+)/.exec(service.output())!;
  const options = { execute: [oidc.allowInsecureRequests] };
  const config = await oidc.discovery(new URL(issuer!), clientId, undefined, oidc.None(), options);
  const verifier = oidc.randomPKCECodeVerifier();
  const start = oidc.buildAuthorizationUrl(config, {
    redirect_uri: address,
    scope: 'openid email profile',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const browser = new Browser();
  const [email, { password }] = Object.entries(service.ready.accounts)[0]!;
  const { location } = await browser.submit(await browser.open(start.href), { email, password });
  const checks = { pkceCodeVerifier: verifier };
  const tokens = await oidc.authorizationCodeGrant(config, new URL(location), checks);
  const { sub } = tokens.claims();
  const user = { sub, email, email_verified: 'true', username: sub };
  expect(await oidc.fetchUserInfo(config, tokens.access_token, sub)).toEqual(user);
  const { access_token: key } = await oidc.refreshTokenGrant(config, tokens.refresh_token);
  expect((await service.api({ path: '/licenses', key })).status).toBe(200);
  const end = oidc.buildEndSessionUrl(config, { client_id: clientId, logout_uri: address });
  expect(await browser.visit(end.href)).toMatchObject({ status: 302, location: address });
});
