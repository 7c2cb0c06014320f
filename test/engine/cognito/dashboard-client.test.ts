import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from 'oidc-client-ts';
import { ada, Browser, clientId, startPool } from './support.ts';
import type { ServedPool } from './support.ts';

let pool: ServedPool;

beforeAll(async () => {
  pool = await startPool();
});
afterAll(() => pool.close());

test('oidc-client-ts, which the dashboard uses, finds the pool, signs in, loads the user and refreshes', async () => {
  const client = new OidcClient({
    authority: pool.issuer,
    client_id: clientId,
    redirect_uri: `${pool.baseUrl}/callback`,
    scope: 'openid email profile',
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  const browser = new Browser();
  const request = await client.createSigninRequest({ state: { path: '/usage' }, nonce: 'the nonce' });
  const end = await browser.submit(await browser.open(request.url), ada);

  const answer = await client.processSigninResponse(end.location);
  expect(answer.userState).toEqual({ path: '/usage' });
  expect(answer.profile).toMatchObject({ sub: ada.sub, email: ada.email });

  const state = { ...answer, data: answer.userState, id_token: answer.id_token!, scope: answer.scope! };
  const refreshed = await client.useRefreshToken({
    state: { ...state, refresh_token: answer.refresh_token! } as never,
  });
  expect(refreshed.access_token).not.toBe(answer.access_token);
  expect(refreshed.refresh_token).not.toBe(answer.refresh_token);
});
