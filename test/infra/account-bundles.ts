import { expect, test } from '@jest/globals';
import type { DeployedCall } from '../support/deployed-calls.ts';
import type { Deployed } from '../support/deployed.ts';

/** What belongs to an account: its settings, and the e-mails that they switch off. */
export function testAccounts(
  deployed: () => Deployed,
  bySession: (options?: DeployedCall) => DeployedCall,
): void {
  test('the e-mails about used credits find what waits, and remove what nobody is to be told of', async () => {
    await deployed().leaveNotice();
    const { failed, returned } = await deployed().invoke('send-notices', {});
    expect([failed, returned]).toEqual([undefined, null]);
    expect(deployed().logOf('send-notices')).toMatch(/"dropped":1,"failed":0,"lost":0/);
  });

  test('an account reads its settings and changes them', async () => {
    const change = await deployed().call('update-account', bySession({ body: { creditMails: false } }));
    expect(change).toMatchObject({ status: 200, body: { creditMails: false } });
    expect(await deployed().call('get-account', bySession())).toMatchObject({
      status: 200,
      body: { creditMails: false },
    });
  });
}
