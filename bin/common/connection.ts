import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dataFolder, type EnginesFile } from '../../local/data-folder.ts';
import type { ReadyFile } from '../../local/service.ts';
import { pointSdkAt } from '../../local/environment.ts';
import { someOperator, type Actor } from '../../shared/accounts/audit.ts';
import type { UserPool } from './accounts.ts';
import type { LogPlace } from './logs.ts';
import { Failure, noLocalService, usageFailure, type FailedPlace } from './failure.ts';

/** The options that say which table is meant. */
export interface PlaceFlags {
  region?: string;
  table?: string;
  stack?: string;
  data?: string;
}

export type Choice =
  | { kind: 'table'; tableName: string }
  | { kind: 'stack'; stackName: string }
  | { kind: 'local'; folder: string };

export interface Place extends FailedPlace {
  tableName: string;
  /** Null where only a table is named. */
  bucketName: string | null;
  /** Null where only a table is named, and USER_POOL_ID is not set. */
  userPool: UserPool | null;
  /** Of the API; null where only a table is named, and while the local service does not run. */
  baseUrl: string | null;
  /** What functions logged; null where only a table is named. */
  logs: LogPlace | null;
}

const defaultFolder = '.local';

/** Chooses the table: options first, then the environment, then the local service. */
export function choosePlace(flags: PlaceFlags, environment: NodeJS.ProcessEnv): Choice {
  if (flags.table !== undefined) return { kind: 'table', tableName: flags.table };
  if (flags.stack !== undefined) return { kind: 'stack', stackName: flags.stack };
  if (flags.data !== undefined) return { kind: 'local', folder: flags.data };
  if (environment.TABLE_NAME) return { kind: 'table', tableName: environment.TABLE_NAME };
  if (flags.region !== undefined) {
    throw usageFailure('--region means AWS: name the table there too, with --table, --stack or TABLE_NAME.');
  }
  return { kind: 'local', folder: defaultFolder };
}

/** Points the SDK at the chosen place. @throws Failure when there is none. */
export async function findPlace(flags: PlaceFlags): Promise<Place> {
  const choice = choosePlace(flags, process.env);
  if (choice.kind === 'local') return localPlace(choice.folder);
  if (flags.region !== undefined) process.env.AWS_REGION = flags.region;
  const outputs =
    choice.kind === 'table'
      ? { TableName: choice.tableName, BucketName: null, UserPoolId: process.env.USER_POOL_ID, BaseUrl: null }
      : await stackOutputs(choice.stackName, ['TableName', 'BucketName', 'UserPoolId', 'BaseUrl']);
  const { TableName: tableName, BucketName: bucketName, UserPoolId: poolId, BaseUrl: baseUrl } = outputs;
  const cognitoUrl = process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER || null;
  const userPool = poolId ? { id: poolId, cognitoUrl } : null;
  const region = process.env.AWS_REGION;
  const name = `the table ${tableName}${region ? ` in ${region}` : ' on AWS'}`;
  const logs = choice.kind === 'stack' ? { stackName: choice.stackName } : null;
  return { tableName, bucketName, userPool, baseUrl, logs, name, localFolder: null };
}

export function localPlace(folder: string): Place {
  const engines = readEngines(folder);
  pointSdkAt(engines);
  const { tableName, bucketName, cognitoUrl, userPoolId } = engines;
  const userPool = { id: userPoolId, cognitoUrl };
  const { log, ready } = dataFolder(folder);
  const baseUrl = existsSync(ready) ? (JSON.parse(readFileSync(ready, 'utf8')) as ReadyFile).baseUrl : null;
  const name = `the local service on ${folder}`;
  return { tableName, bucketName, userPool, baseUrl, logs: { file: log }, name, localFolder: folder };
}

export function readEngines(folder: string): EnginesFile {
  const path = dataFolder(folder).engines;
  let text;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') throw noLocalService(folder);
    throw new Failure(`${path} can't be read (${code}).`, 1, { cause: error });
  }
  try {
    const engines = JSON.parse(text) as EnginesFile;
    if (!URL.canParse(engines.dynamoDbUrl) || !engines.tableName) throw new Error('shape');
    return engines;
  } catch (cause) {
    throw new Failure(`${path} is damaged: start the local service again.`, 1, { cause });
  }
}

/** A stack's outputs, those that are named. @throws Failure when there is no such stack, or one is missing. */
export async function stackOutputs<Name extends string>(
  stackName: string,
  names: readonly Name[],
): Promise<Record<Name, string>> {
  // Imported late, because the AWS SDK takes long to load.
  const [{ CloudFormationClient }, { describeStack }] = await Promise.all([
    import('@aws-sdk/client-cloudformation'),
    import('./stack.ts'),
  ]);
  const client = new CloudFormationClient({});
  const stack = await describeStack(client, stackName).finally(() => client.destroy());
  if (stack === undefined) throw new Failure(`There is no stack ${stackName} in this region and account.`);
  const outputs = new Map(stack.Outputs?.map(({ OutputKey: key, OutputValue: value }) => [key, value]));
  const missing = names.filter((name) => !outputs.get(name));
  if (missing.length > 0) {
    throw new Failure(`The stack ${stackName} has no output ${missing.join(', ')}: deploy it again.`);
  }
  return Object.fromEntries(outputs) as Record<Name, string>;
}

/** Who works with the CLI: on AWS who AWS says that it is, on the local service the user of this computer. */
export async function operatorOf(place: Place): Promise<Actor> {
  if (place.localFolder !== null) return userOfComputer();
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  const client = new STSClient({});
  try {
    const { Arn: arn } = await client.send(new GetCallerIdentityCommand({}));
    return arn ? `operator:${arn}` : userOfComputer();
  } finally {
    client.destroy();
  }
}

/** A container may run as a user that has no name. */
function userOfComputer(): Actor {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    return someOperator;
  }
}
