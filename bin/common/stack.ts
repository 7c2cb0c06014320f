import {
  DescribeStacksCommand,
  paginateListStackResources,
  type CloudFormationClient,
  type Stack,
} from '@aws-sdk/client-cloudformation';

/** A stack by its name; undefined if there is none. */
export async function describeStack(
  client: CloudFormationClient,
  name: string,
  options: { abortSignal?: AbortSignal } = {},
): Promise<Stack | undefined> {
  try {
    const { Stacks: stacks } = await client.send(new DescribeStacksCommand({ StackName: name }), options);
    return stacks?.[0];
  } catch (error) {
    if (error instanceof Error && /does not exist/.test(error.message)) return undefined;
    throw error;
  }
}

/** The names of a stack's functions. */
export function functionsOf(
  client: CloudFormationClient,
  stackName: string,
  options: { abortSignal?: AbortSignal } = {},
): Promise<string[]> {
  return resourcesOf(client, stackName, 'AWS::Lambda::Function', options);
}

/** The names of a stack's resources of one type. */
export async function resourcesOf(
  client: CloudFormationClient,
  StackName: string,
  wanted: string,
  options: { abortSignal?: AbortSignal } = {},
): Promise<string[]> {
  const names: string[] = [];
  for await (const page of paginateListStackResources({ client }, { StackName }, options)) {
    for (const { ResourceType: type, PhysicalResourceId: id } of page.StackResourceSummaries ?? [])
      if (type === wanted && id) names.push(id);
  }
  return names;
}
