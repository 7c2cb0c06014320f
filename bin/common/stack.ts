import { DescribeStacksCommand, type CloudFormationClient, type Stack } from '@aws-sdk/client-cloudformation';

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
