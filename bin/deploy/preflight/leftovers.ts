import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import {
  paginateGetResources,
  ResourceGroupsTaggingAPIClient,
} from '@aws-sdk/client-resource-groups-tagging-api';
import { dataTag } from '../../../lib/configuration.ts';
import { ask, cliCommand, type Aws } from '../aws.ts';
import { conditionOf, wasCreated } from '../stacks.ts';
import { note, stop, type Check, type Finding, type Plan } from './check.ts';

/** What holds customers' data, by the beginnings of the logical ids. The stack's deletion leaves them. */
export const dataStores = [
  { logicalId: 'RecordsTable', name: 'the table' },
  { logicalId: 'ImagesBucket', name: 'the bucket of images' },
  { logicalId: 'AccountsUserPool', name: 'the user pool' },
];

/**
 * CloudFormation's own tags ("CloudFormation resource tagging"). Tables have none of them, but `dataTag`, which stores of
 * older versions lack. Tags stay on what a stack leaves behind.
 */
const stackTag = 'aws:cloudformation:stack-name';
const logicalIdTag = 'aws:cloudformation:logical-id';

/** Names that a stack gives and that can be there only once; CloudFormation finds other names itself. */
const fixedLogGroups = (stackName: string) => [
  `aws-waf-logs-${stackName}`,
  `/aws/sagemaker/Endpoints/${stackName}`,
];

interface Left {
  arn: string;
  stackName: string;
  /** Empty where CloudFormation has not tagged it. */
  logicalId: string;
}

/** What has a tag with the name of one of the stacks. */
async function resourcesLeft(aws: Aws, key: string, stackNames: string[]): Promise<Left[]> {
  const input = { TagFilters: [{ Key: key, Values: stackNames }] };
  return ask(aws, ResourceGroupsTaggingAPIClient, async (client, options) => {
    const left: Left[] = [];
    for await (const { ResourceTagMappingList: list = [] } of paginateGetResources(
      { client },
      input,
      options,
    )) {
      for (const { ResourceARN: arn = '', Tags: tags = [] } of list) {
        const valueOf = (name: string) => tags.find(({ Key }) => Key === name)?.Value ?? '';
        left.push({ arn, stackName: valueOf(key), logicalId: valueOf(logicalIdTag) });
      }
    }
    return left;
  });
}

/** What an earlier stack of the same name has left: new stores would hide its data, and fixed names are taken. */
export const leftovers: Check = {
  subject: 'whether an earlier deployment has left anything',
  permission: 'tag:GetResources and cloudformation:DescribeStacks',
  async run(plan, facts) {
    const stacks = await facts.stacks;
    const missing = plan.targets.filter((name) => !wasCreated(stacks.get(name)!));
    if (missing.length === 0) return [];
    const left = await resourcesLeft(plan.aws, stackTag, missing);
    const isData = (one: Left) => dataStores.some(({ logicalId }) => one.logicalId.startsWith(logicalId));
    const data = [...(await resourcesLeft(plan.aws, dataTag, missing)), ...left.filter(isData)];
    // The CDK deletes what is left of a failed creation, but for the data stores.
    const wasTried = (name: string) => conditionOf(stacks.get(name)!) === 'never-created';
    return [
      ...dataFindings(data, plan),
      ...left.filter((one) => !wasTried(one.stackName)).flatMap((one) => inTheWay(one, plan.aws)),
    ];
  },
};

/** A failed creation leaves empty stores. A failed import leaves full ones, and looks the same. */
function dataFindings(data: Left[], { deployment, newData }: Plan): Finding[] {
  if (data.length === 0) return [];
  const named = [...new Set(data.map(({ arn }) => arn))].join(', ');
  if (newData) {
    return note(
      `These are left of an earlier ${deployment.stackName}, and the new one does not use them: ${named}. ` +
        'If nothing in them is needed, remove them (docs/deploying.md#tearing-down).',
    );
  }
  return stop(
    `The stack ${deployment.stackName} does not have these stores, which an earlier one left: ${named}. A deployment would make ` +
      'new, empty stores, and no account, key or image of before would be found. Take them back ' +
      '(docs/deploying.md#taking-data-back) or remove them (docs/deploying.md#tearing-down). If they are only what a first ' +
      'deployment left that failed, go on with new ones by --new-data.',
  );
}

function inTheWay({ arn, stackName }: Left, aws: Aws): Finding[] {
  const name = /:log-group:([^:]+)/.exec(arn)?.[1] ?? '';
  if (!fixedLogGroups(stackName).includes(name)) return [];
  const command = cliCommand(aws, `logs delete-log-group --log-group-name ${name}`);
  return stop(
    `The log group ${name} of an earlier ${stackName} is still there, and the new stack needs its name. Remove it: ${command}`,
  );
}

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
    return stop(
      `The stack ${stackName} is in the state ${status}, and it lacks ${named}. A deployment would make new ones, without ` +
        'data. Delete the stack, which keeps what it took back, and import all three at once ' +
        '(docs/deploying.md#taking-data-back), or go on with new ones by --new-data.',
    );
  },
};
