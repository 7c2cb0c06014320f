import { describe, expect, test } from '@jest/globals';
import { licenseStore } from '../../shared/licenses/store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { newLicense } from '../support/grants.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;

const activityOf = ({ bySession, license }: Account, query = '') =>
  bySession(`/licenses/${license.licenseId}/activity${query}`);

describe('GET /licenses/{licenseId}/activity', () => {
  test('tells who changed what, newest first, and never which operator', async () => {
    const account = await newAccount(service);
    const { license, bySession } = account;
    const { licenseId } = license;
    const operator = 'operator:arn:aws:iam::123456789012:user/Mallory';
    await licenseStore(table).update(licenseId, { tier: 'enterprise', creditsLimit: 9000 }, operator);
    await licenseStore(table).update(licenseId, { status: 'past_due' }, 'billing:evt_secret');
    await licenseStore(table).update(licenseId, { status: 'active' }, 'billing:evt_secret');
    const made = await bySession('/keys', { body: { licenseId, name: 'CI' } });
    await bySession(`/keys/${made.body.keyId}`, { method: 'DELETE' });
    const answer = await activityOf(account);
    expectOk(answer);
    expect(answer.body.nextCursor).toBeNull();
    const ofKey = { keyId: made.body.keyId, keyName: 'CI' };
    const ofLicense = { keyId: null, keyName: null };
    const status = (from: string, to: string) => ({ member: 'status', from, to });
    expect(answer.body.activity).toMatchObject([
      { by: 'owner', action: 'key_revoked', ...ofKey, changes: [] },
      { by: 'owner', action: 'key_issued', ...ofKey },
      { by: 'billing', action: 'license_changed', changes: [status('past_due', 'active')] },
      { by: 'billing', action: 'license_changed', changes: [status('active', 'past_due')] },
      {
        by: 'operator',
        action: 'license_changed',
        ...ofLicense,
        changes: [
          { member: 'tier', from: 'Pro', to: 'Enterprise' },
          { member: 'creditsLimit', from: 4000, to: 9000 },
        ],
      },
      { by: 'owner', action: 'key_issued', keyId: account.keyId },
      { by: 'operator', action: 'license_granted', ...ofLicense },
    ]);
    const text = JSON.stringify(answer.body);
    const secrets = ['Mallory', 'evt_secret', license.ownerId, made.body.key.slice(9), 'svc_live'];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  test('is told in pages', async () => {
    const account = await newAccount(service);
    const first = (await activityOf(account, '?limit=1')).body;
    const second = (await activityOf(account, `?limit=1&cursor=${first.nextCursor}`)).body;
    expect([...first.activity, ...second.activity].map(({ action }) => action)).toEqual([
      'key_issued',
      'license_granted',
    ]);
    expect(second.nextCursor).toBeNull();
  });

  test.each(['limit=0', 'cursor=x', 'licenseId=x'])('refuses ?%s', async (query) => {
    expectError(await activityOf(await newAccount(service), `?${query}`), 400, 'INVALID_PARAMETERS');
  });

  test('of another account’s license is that of a license that there is not', async () => {
    const [mine, other] = [await newAccount(service), await newAccount(service)];
    const ask = async (licenseId: string) => {
      const { status, body } = await mine.bySession(`/licenses/${licenseId}/activity`);
      return { status, body };
    };
    const refusal = await ask(other.license.licenseId);
    expect(refusal).toMatchObject({ status: 404, body: { code: 'LICENSE_NOT_FOUND' } });
    expect(await ask(newLicense().licenseId)).toEqual(refusal);
  });
});
