import { expect, test } from '@jest/globals';
import { addExtraCredits } from '../../shared/licenses/extra-credits-store.ts';
import { reserveAbandoned } from '../support/period-totals.ts';
import { grant, issueKey } from '../support/grants.ts';
import { expectOk } from '../support/answers.ts';
import { identities, newAccount, service, table } from './fixture.ts';

const identityId = identities.aurora!;
const allowance = async (key: string) => {
  const answer = await service.api({ path: '/key', key });
  expectOk(answer);
  return answer.body;
};

test('GET /key tells what the key, its license and its minute have left, and takes nothing of it', async () => {
  const account = await newAccount({ used: 90, creditsLimit: 100 });
  const { license, bySession, byKey, generate } = account;
  const expiresAtMs = Date.now() + 60_000;
  const made = { name: 'ci', access: 'own', monthlyCredits: 7, maxInFlight: 3, expiresAtMs } as const;
  const { key, keyId } = await issueKey(table, license, made);
  expectOk(await generate({ numOutputs: 2 }));
  const body = { identityId, prompt: 'x', width: 512, height: 512, numInferenceSteps: 20 };
  expectOk(await service.api({ path: '/generate', key, body }));
  await reserveAbandoned(table, license, { identityId, keyId });
  const first = await allowance(key);
  const { identities: usable, ...rest } = first;
  expect(rest).toEqual({
    keyId,
    keyPrefix: key.slice(0, 13),
    name: 'ci',
    expiresAt: new Date(expiresAtMs).toISOString(),
    access: 'own',
    license: {
      licenseId: license.licenseId,
      name: 'Pro',
      tier: 'Pro',
      maxOutputs: 4,
      maxSidePx: 2048,
      maxInFlight: 40,
      inFlight: 1,
    },
    credits: { limit: 100, used: 93, remaining: 6, resetsAt: expect.stringMatching(/Z$/) },
    budget: { monthlyCredits: 7, used: 1, remaining: 5 },
    maxInFlight: 3,
    inFlight: 0,
    requests: { perMinute: 10, remaining: 9, resetSeconds: expect.any(Number) },
  });
  expect(rest.requests.resetSeconds).toBeGreaterThan(0);
  const { body: list } = await byKey('/identities');
  expect(usable).toEqual(
    list.identities.map(({ id, name, slug, available }: any) => ({ id, name, slug, available })),
  );
  expect((await allowance(key)).requests.remaining).toBe(9);
  const { body: usage } = await bySession(`/usage?licenseId=${license.licenseId}`);
  expect([usage.stats.current, usage.stats.billingPeriodEnd]).toEqual([93, rest.credits.resetsAt]);
});

test('a key without limits of its own has none to tell; its license has the name that its owner sees, and never less than nothing', async () => {
  const { license, key, bySession } = await newAccount();
  const later = { ownerId: license.ownerId, createdAtMs: Date.now() + 1, creditsLimit: 5, used: 9 };
  const second = await grant(table, later);
  const { body } = await bySession('/licenses');
  const [named, ofSecond] = [await allowance(key), await allowance(second.key)];
  expect([named.license.name, ofSecond.license.name]).toEqual(body.licenses.map(({ name }: any) => name));
  expect(ofSecond.license.name).toBe('Pro 2');
  expect(ofSecond).toMatchObject({
    budget: null,
    maxInFlight: null,
    inFlight: null,
    credits: { used: 9, remaining: 0 },
    requests: { remaining: 10, resetSeconds: 0 },
  });
});

test('extra credits are used after the month’s own, and told while there are any', async () => {
  const { license, key, generate, bySession } = await newAccount({ used: 4, creditsLimit: 5 });
  const { licenseId } = license;
  const expiresAtMs = Date.now() + 1e9;
  const gift = { licenseId, amount: 2, source: 'grant', reason: 'x', expiresAtMs } as const;
  const stats = async () => (await bySession(`/usage?licenseId=${licenseId}`)).body.stats;
  expect(await stats()).not.toHaveProperty('extraRemaining');
  await addExtraCredits(table, { ...gift, paymentId: `gift_${licenseId}` }, 'operator:ada', Date.now());
  const extraExpiresAt = new Date(expiresAtMs).toISOString();
  expect(await stats()).toMatchObject({ current: 4, extraRemaining: 2, extraExpiresAt });
  const { body } = await generate({ numOutputs: 2 });
  expect(body.usage).toMatchObject({
    creditsUsed: 6,
    creditsLimit: 5,
    creditsRemaining: -1,
    extraRemaining: 1,
  });
  expect((await allowance(key)).credits).toMatchObject({ used: 6, remaining: 0, extraRemaining: 1 });
  const refused = await generate({ numOutputs: 2 });
  expect(refused.body.error).toContain("more than is left of this month's 5 and of its extra credits");
  expect((await generate()).body.usage).not.toHaveProperty('extraRemaining');
  expect(await stats()).not.toHaveProperty('extraRemaining');
});
