import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newRequestId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import { runHere } from '../engine/admin/fixture.ts';
import { grant } from '../support/grants.ts';
import { startRecordedGateway } from '../support/recorded-gateway.ts';
import { sessionOf } from '../support/sessions.ts';
import { useService } from '../support/use-service.ts';

const service = useService();
const session = async (sub?: string) => sessionOf(service.dataDir, sub === undefined ? {} : { sub });
const licenses = async (key: string) => (await service.api({ path: '/licenses', key })).status;

/** Tokens say the second that they were issued in, and all of the second of an end are refused. */
const nextSecond = () => wait(1010 - (Date.now() % 1000));

test('a copied access token is refused on every route once its account is signed out everywhere, and others are not', async () => {
  const [copied, other] = [await session(), await session((await grant(service.table)).license.ownerId)];
  expect([await licenses(copied), await licenses(other)]).toEqual([200, 200]);
  const signOut = ['account', 'sign-out', 'owner@example.test', '--yes', '--json'];
  const run = await runHere(['--data', service.dataDir, ...signOut]);
  expect(JSON.parse(run.stdout)).toMatchObject({ isThere: true, disabled: false });
  const startedMs = performance.now();
  let asked = 0;
  for (const { path, method, auth } of Object.values(routes as Record<string, Route>)) {
    if (auth !== 'session' && auth !== 'key_or_session') continue;
    const at = path.replace(/\{\w+\}/g, newRequestId(0));
    const { status, body } = await service.api({
      path: at,
      method,
      key: copied,
      ...(method !== 'GET' && { body: {} }),
    });
    expect([path, status, body.code]).toEqual([path, 401, 'INVALID_SESSION']);
    asked += 1;
  }
  console.log(
    `${asked} routes refused the copied token ${Math.round(performance.now() - startedMs)} ms after; without the rule they take it for an hour`,
  );
  expect(await licenses(other)).toBe(200);
  await nextSecond();
  expect(await licenses(await session())).toBe(200);
});

test('so it is where Cognito was told by others, however late and often that is heard', async () => {
  const gateway = await startRecordedGateway(service.dataDir);
  const { handler } = await import('../../functions/end-sessions.ts');
  const { license } = await grant(service.table);
  const copied = await session(license.ownerId);
  await nextSecond();
  const [late, now] = [Date.now() - 60_000, Date.now()];
  const heard = (eventName: string, atMs: number) =>
    handler({
      source: 'aws.cognito-idp',
      detail: {
        eventName,
        eventTime: new Date(atMs).toISOString().replace(/\.\d+/, ''),
        requestParameters: { userPoolId: 'us-east-1_x', username: 'HIDDEN_DUE_TO_SECURITY_REASONS' },
        additionalEventData: { sub: license.ownerId },
      },
    });
  await heard('AdminDisableUser', late);
  expect(await licenses(copied)).toBe(200);
  await heard('AdminDeleteUser', now);
  await heard('AdminDisableUser', late);
  expect(await licenses(copied)).toBe(401);
  await expect(handler({ detail: { eventName: 'DeleteUser' } })).rejects.toThrow();
  await gateway.close();
});
