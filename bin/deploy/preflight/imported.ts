import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { ask, type Aws } from '../aws.ts';
import { stop, type Check } from './check.ts';
import { dataStores } from './data-stores.ts';

async function logicalIdsOf(aws: Aws, stackName: string): Promise<string[]> {
  const input = { StackName: stackName };
  return ask(aws, CloudFormationClient, async (client, options) => {
    const ids: string[] = [];
    for await (const page of paginateListStackResources({ client }, input, options)) {
      ids.push(...(page.StackResourceSummaries ?? []).map(({ LogicalResourceId: id = '' }) => id));
    }
    return ids;
  });
}

/** Whether an import took all stores back: a deployment would make those that it left out new and empty. */
export const imported: Check = {
  subject: 'whether the stack has taken all data back',
  permission: 'cloudformation:ListStackResources',
  async run({ aws, deployment, targets, newData }, facts) {
    const { stackName } = deployment;
    const { status } = (await facts.stacks).get(stackName)!;
    const wasImported = status === 'IMPORT_COMPLETE' || status === 'IMPORT_ROLLBACK_COMPLETE';
    if (!wasImported || newData || !targets.includes(stackName)) return [];
    const ids = await logicalIdsOf(aws, stackName);
    const missing = dataStores.filter(({ logicalId }) => !ids.some((id) => id.startsWith(logicalId)));
    if (missing.length === 0) return [];
    const named = missing.map(({ name }) => name).join(', ');
    return [
      stop(
        `The stack ${stackName} is in the state ${status}, and it lacks ${named}. A deployment would make new ones, without ` +
          'data. Delete the stack, which keeps what it took back, and import all three at once ' +
          '(docs/deploying.md#taking-data-back), or go on with new ones by --new-data.',
      ),
    ];
  },
};
