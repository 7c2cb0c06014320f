import type { Aws } from '../../../bin/deploy/aws.ts';
import type { Deployment } from '../../../bin/deploy/deployment.ts';
import { modelStackNameOf, readConfiguration, stackNameOf } from '../../../lib/configuration.ts';
import { region, startAws, type StandInAccount, type StandInAws } from './stand-in-aws.ts';

/** The configuration of a model of its own. */
export const withModel = { inference: { kind: 'endpoint', modelData: 's3://weights/sdxl/' } };

export function deploymentFor(options: unknown): Deployment {
  const configuration = readConfiguration(options, 'The options');
  const modelStackName = modelStackNameOf(configuration);
  return { configuration, stackName: stackNameOf(configuration), modelStackName, contextArguments: [] };
}

/** Runs something in this process that asks an account on AWS. */
export async function inAccount<T>(
  account: StandInAccount,
  run: (aws: Aws, calls: StandInAws['calls']) => Promise<T>,
  timeLimitMs?: number,
): Promise<T> {
  const server = await startAws(account);
  return atEndpoint(server.url, (aws) => run(aws, server.calls), timeLimitMs).finally(() => server.close());
}

/** Runs something in this process whose questions all services of AWS answer at one address. */
export async function atEndpoint<T>(
  url: string,
  run: (aws: Aws) => Promise<T>,
  timeLimitMs = 60_000,
): Promise<T> {
  process.env.AWS_ENDPOINT_URL = url;
  const credentials = async () => ({ accessKeyId: 'test', secretAccessKey: 'test' });
  const settings = { region, credentials } as Aws['settings'];
  const options = ['--region', region];
  try {
    return await run({ settings, accountId: '123456789012', options, timeLimitMs });
  } finally {
    delete process.env.AWS_ENDPOINT_URL;
  }
}
