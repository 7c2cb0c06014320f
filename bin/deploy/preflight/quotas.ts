import { CloudFormationClient } from '@aws-sdk/client-cloudformation';
import { GetAccountSettingsCommand, GetFunctionCommand, LambdaClient } from '@aws-sdk/client-lambda';
import {
  paginateListAWSDefaultServiceQuotas,
  paginateListServiceQuotas,
  ServiceQuotasClient,
  type ServiceQuota,
} from '@aws-sdk/client-service-quotas';
import { instanceTypesOf } from '../../../lib/inference-options.ts';
import { functionsOf } from '../../common/stack.ts';
import { ask, cliCommand, type Aws } from '../aws.ts';
import { note, stop, type Check, type Finding } from './check.ts';

/** AWS's usual quota, for all functions of an account in a region. */
const usual = 1000;
/** What AWS gives to new accounts. */
const ofNewAccounts = 10;

/** How many functions the account may run at once, and how many of these are reserved (Lambda API, "AccountLimit"). */
export async function readConcurrency(aws: Aws): Promise<{ total: number; reserved: number }> {
  const { AccountLimit: limit } = await ask(aws, LambdaClient, (client, options) =>
    client.send(new GetAccountSettingsCommand({}), options),
  );
  if (limit?.ConcurrentExecutions === undefined) throw new Error('Lambda named no limit.');
  const { ConcurrentExecutions: total, UnreservedConcurrentExecutions: unreserved = total } = limit;
  return { total, reserved: total - unreserved };
}

/** How many executions the functions of a stack that is there have reserved. */
export async function readReservedBy(aws: Aws, stack: string): Promise<number> {
  const names = await ask(aws, CloudFormationClient, (client, options) =>
    functionsOf(client, stack, options),
  );
  const counts = await ask(aws, LambdaClient, (client, options) =>
    Promise.all(
      names.map(async (FunctionName) => {
        const { Concurrency } = await client.send(new GetFunctionCommand({ FunctionName }), options);
        return Concurrency?.ReservedConcurrentExecutions ?? 0;
      }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

export const concurrency: Check = {
  subject:
    'how many functions the account may run at once, so the API takes 100 requests a second, two asynchronous requests run at once, and no executions are reserved for the sweep, billing events, key revocation and health',
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
    return note(
      `The account may run ${limit} functions at once in ${region}${why}. A generation holds one until its image is ` +
        `there, and each other request needs one too: at most ${limit} generations can run at once, and while they ` +
        `do, nobody else is answered. Ask AWS for more: ${increase}`,
    );
  },
};

/** A quota that was never changed may be in the list of AWS's defaults only. */
async function findQuota(aws: Aws, name: string): Promise<ServiceQuota | undefined> {
  const hasName = (quota: ServiceQuota) => quota.QuotaName === name;
  return ask(aws, ServiceQuotasClient, async (client, options) => {
    for (const paginate of [paginateListServiceQuotas, paginateListAWSDefaultServiceQuotas]) {
      // The SDK writes the token of the next page into its input, so each list needs one of its own.
      const input = { ServiceCode: 'sagemaker' };
      for await (const { Quotas: quotas = [] } of paginate({ client, pageSize: 100 }, input, options)) {
        const found = quotas.find(hasName);
        if (found !== undefined) return found;
      }
    }
    return undefined;
  });
}

/** Whether SageMaker may start the model's instances. */
export const instanceQuota: Check = {
  subject: "whether the quota for the model's instances is high enough",
  permission: 'servicequotas:ListServiceQuotas and servicequotas:ListAWSDefaultServiceQuotas',
  async run({ aws, deployment, targets }): Promise<Finding[]> {
    const { configuration, modelStackName } = deployment;
    const { inference } = configuration;
    if (inference.kind !== 'endpoint' || !targets.includes(modelStackName!)) return [];
    // A model that may be scaled to zero starts one instance, too: at the deployment, and at each cold start.
    const first = Math.max(1, inference.minInstances);
    // SageMaker refuses an endpoint where any of its types has no quota, whichever it takes (Deepgram, "Deploy on Amazon SageMaker").
    const found = instanceTypesOf(inference).map((type, i) =>
      findingsOf(aws, { type, first: i === 0 ? first : 1, most: inference.maxInstances }),
    );
    return (await Promise.all(found)).flat();
  },
};

/** @param first how many instances the type must have at least, most how many it may have */
async function findingsOf(
  aws: Aws,
  { type, first, most }: { type: string; first: number; most: number },
): Promise<Finding[]> {
  const { region } = aws.settings;
  const quota = await findQuota(aws, `${type} for endpoint usage`);
  if (quota?.Value === undefined) {
    return note(
      `AWS has no quota for ${type} in ${region}, so SageMaker may not offer this type there: see the types in the console of Service Quotas.`,
    );
  }
  const needed = 2 * most;
  if (quota.Value >= needed) return [];
  const has = `The account's quota for ${type} in ${region} is ${quota.Value}`;
  const increase = cliCommand(
    aws,
    `service-quotas request-service-quota-increase --service-code sagemaker --quota-code ${quota.QuotaCode} --desired-value ${needed}`,
  );
  if (quota.Value < first) {
    return stop(
      `${has}, and the endpoint needs ${first} to start. Ask AWS for more and wait for the answer, or deploy without a model first (docs/deploying.md#first-none-then-the-model): ${increase}`,
    );
  }
  return note(
    `${has}. A later deployment of the model starts new instances beside the old ones, so with inference.maxInstances ${most} it needs up to ${needed} while both run. Ask AWS for more: ${increase}`,
  );
}
