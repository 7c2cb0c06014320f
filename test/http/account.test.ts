import { expect, test } from '@jest/globals';
import { newAccount } from '../support/accounts.ts';
import { expectError, expectOk } from '../support/answers.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();

test('an account that has chosen nothing gets e-mails; what it chooses holds at once, for itself alone', async () => {
  const [account, other] = [await newAccount(service), await newAccount(service)];
  const read = async ({ bySession }: typeof account) => {
    const answer = await bySession('/account');
    expectOk(answer);
    return answer.body;
  };
  expect(await read(account)).toEqual({ creditMails: true });
  for (const creditMails of [false, true, false]) {
    const changed = await account.bySession('/account', { method: 'PATCH', body: { creditMails } });
    expectOk(changed);
    expect([changed.body, await read(account)]).toEqual([{ creditMails }, { creditMails }]);
  }
  expect(await read(other)).toEqual({ creditMails: true });
});

test('what a change leaves out stays, and what it may not say is named', async () => {
  const { bySession } = await newAccount(service);
  const change = (body: object) => bySession('/account', { method: 'PATCH', body });
  await change({ creditMails: false });
  for (const body of [{}, { creditMails: null }])
    expect((await change(body)).body).toEqual({ creditMails: false });
  for (const [body, named] of [
    [{ creditMails: 'no' }, 'creditMails must be true or false'],
    [{ creditMail: false }, 'creditMail'],
  ] as const) {
    const refused = await change(body);
    expectError(refused, 400, 'INVALID_PARAMETERS');
    expect(refused.body.error).toContain(named);
  }
});
