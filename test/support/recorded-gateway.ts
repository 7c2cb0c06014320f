import { readEngines } from '../../bin/common/connection.ts';
import { setFunctionEnvironment, type LocalSettings } from '../../local/environment.ts';
import { importRoutes } from '../../local/gateway/functions.ts';
import { createGateway } from '../../local/gateway/gateway.ts';
import { installLambdaGlobal } from '../../local/gateway/lambda-host.ts';
import { openPort } from '../../local/port.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { setLogSink } from '../../shared/base/log.ts';
import { basePath } from '../../shared/routes/api.ts';
import { startAuthorizingProxy } from './authorizing-proxy.ts';

/** A key that the table was asked for: of an item, or a partition and a place in it. */
export type AskedKey = string;

export interface TableCall {
  /** As `GetItem`. */
  operation: string;
  keys: AskedKey[];
}

export interface RecordedGateway {
  baseUrl: string;
  /** What was logged so far. */
  lines: string[];
  askedKeys: Set<AskedKey>;
  /** What the table was asked for, in order. */
  calls: TableCall[];
  close(): Promise<void>;
}

/** A port where nothing listens: no request that must be refused reaches what is there. */
const nowhere = 'http://127.0.0.1:9';

/** All routes in this process, over nothing but the engines that are named. */
export async function openGateway(
  engines: Partial<LocalSettings> & Pick<LocalSettings, 'dynamoDbUrl' | 'session'>,
): Promise<{ baseUrl: string; idle(): Promise<void>; close(): Promise<void> }> {
  setFunctionEnvironment({
    region: 'us-east-1',
    tableName: 'table',
    bucketName: 'bucket',
    modelEndpointName: 'model',
    accessKeyId: 'AKIDTEST',
    secretAccessKey: 'secret',
    s3Url: nowhere,
    cognitoUrl: nowhere,
    sesUrl: nowhere,
    secretsManagerUrl: nowhere,
    sageMakerRuntimeUrl: nowhere,
    referenceFetcherUrl: nowhere,
    generationQueueUrl: nowhere,
    dashboardUrl: 'https://dashboard.test/',
    userPoolId: 'us-east-1_test',
    deadlineSeconds: 60,
    asyncDeadlineSeconds: 600,
    allowedOrigins: [],
    ...engines,
  });
  installLambdaGlobal();
  const gateway = createGateway({ mounted: await importRoutes(), functionTimeoutMs: 60_000 });
  const port = await openPort(0);
  port.serve((req, res) => void gateway.handle(req, res));
  return { baseUrl: port.url + basePath, idle: () => gateway.idle(), close: () => port.close() };
}

/** The routes in this process, over the engines of a running service, with a record of what the table is asked for. */
export async function startRecordedGateway(dataDir: string): Promise<RecordedGateway> {
  const engines = readEngines(dataDir);
  const askedKeys = new Set<AskedKey>();
  const calls: TableCall[] = [];
  const proxy = await startAuthorizingProxy({
    target: engines.dynamoDbUrl,
    needs({ headers }, body) {
      const operation = String(headers['x-amz-target']).split('.').at(-1)!;
      const keys = keysIn(JSON.parse(body.toString()));
      calls.push({ operation, keys });
      for (const key of keys) askedKeys.add(key);
      return [];
    },
    isAllowed: () => true,
    onAsked: () => {},
  });
  const lines: string[] = [];
  setLogSink((line) => void lines.push(line));
  const gateway = await openGateway({
    ...engines,
    dynamoDbUrl: proxy.url,
    session: sessionSettings(engines.s3Url),
  });
  return {
    baseUrl: gateway.baseUrl,
    lines,
    askedKeys,
    calls,
    async close() {
      await gateway.close();
      await proxy.close();
    },
  };
}

/** Every key in a request to DynamoDB, wherever it stands, and the values of a query's conditions on keys. */
function keysIn(input: any): AskedKey[] {
  const found: AskedKey[] = [];
  const waiting: unknown[] = [input];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    const { PK, SK } = next as Record<string, { S: string } | undefined>;
    if (PK && SK) found.push(`${PK.S} ${SK.S}`);
    waiting.push(...Object.values(next));
  }
  const condition: string = input.KeyConditionExpression ?? '';
  const values = [...condition.matchAll(/:\w+/g)].map(
    ([name]) => input.ExpressionAttributeValues[name].S as string,
  );
  return values.length === 0 ? found : [...found, values.join(' ')];
}
