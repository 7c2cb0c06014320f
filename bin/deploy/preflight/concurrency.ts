import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ask, cliCommand, type Aws } from '../aws.ts';
import { note, type Check } from './check.ts';

/** AWS's usual quota, for all functions of an account in a region. */
const usual = 1000;
/** What AWS gives to new accounts. */
const ofNewAccounts = 10;

/** How many functions the account may run at once. */
export async function readConcurrency(aws: Aws): Promise<number> {
  const { AccountLimit: limit } = await ask(aws, LambdaClient, (client, options) =>
    client.send(new GetAccountSettingsCommand({}), options),
  );
  if (limit?.ConcurrentExecutions === undefined) throw new Error('Lambda told no limit.');
  return limit.ConcurrentExecutions;
}

export const concurrency: Check = {
  subject:
    'how many functions the account may run at once, so none are reserved for the sweep, billing events, key revocation and asynchronous requests',
  permission: 'lambda:GetAccountSettings',
  async run({ aws }, { accountConcurrency }) {
    const limit = await accountConcurrency;
    if (limit >= usual) return [];
    const { region } = aws.settings;
    const why = limit <= ofNewAccounts ? `, as new accounts in general: AWS's usual number is ${usual}` : '';
    const increase = cliCommand(
      aws,
      `service-quotas request-service-quota-increase --service-code lambda --quota-code L-B99A9384 --desired-value ${usual}`,
    );
    return [
      note(
        `The account may run ${limit} functions at once in ${region}${why}. A generation holds one until its image is ` +
          `there, and each other request needs one too: at most ${limit} generations can run at once, and while they ` +
          `do, nobody else is answered. Ask AWS for more: ${increase}`,
      ),
    ];
  },
};
