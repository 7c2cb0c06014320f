import { setFunctionEnvironment } from '../../../local/environment.ts';
import { installLambdaGlobal, invoke } from '../../../local/gateway/lambda-host.ts';
import { invocationPath } from '../../../local/lambda/engine.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { basePath } from '../../../shared/routes/api.ts';
import type { QueueAnswer } from '../../../shared/generations/queue-contract.ts';
import { jobs } from '../../../shared/routes/jobs.ts';
import type { Route } from '../../../shared/routes/route.ts';
import type { Profile } from './faults.ts';
import { currentRun, type Run } from './runs.ts';

const nowhere = 'http://127.0.0.1:1';
export const dashboardUrl = 'https://dashboard.test/';
export const queueUrl = 'http://queue.test/000000000000/generations';

/** The environment that functions are made in: every address is the simulation's. */
export function prepareEnvironment(tableName: string, profile: Profile): void {
  setFunctionEnvironment({
    region: 'us-east-1',
    tableName,
    bucketName: 'bucket',
    modelEndpointName: 'model',
    modelComponentName: profile.notesColdStarts ? 'component' : '',
    accessKeyId: 'AKIDSIMULATION',
    secretAccessKey: 'secret',
    dynamoDbUrl: nowhere,
    s3Url: nowhere,
    cognitoUrl: nowhere,
    sesUrl: nowhere,
    secretsManagerUrl: nowhere,
    dashboardUrl,
    userPoolId: 'us-east-1_test',
    sageMakerRuntimeUrl: nowhere,
    referenceFetcherUrl: nowhere + invocationPath(jobs.fetchReferences.functionName),
    generationQueueUrl: queueUrl,
    deadlineSeconds: 60,
    asyncDeadlineSeconds: profile.asyncDeadlineSeconds,
    allowedOrigins: [],
    session: { issuer: nowhere, jwksUrl: nowhere, clientId: 'none' },
  });
  setLogSink(() => {});
  installLambdaGlobal();
}

/** Gets the messages of a queue. */
export type QueueHandler = (event: unknown) => Promise<QueueAnswer | void>;

let imports = 0;

/** Functions as after a cold start: each import is another environment, with clients and memory of its own. */
export async function coldStart(environments: number) {
  imports += 1;
  const fresh = async (name: string, i = 0) =>
    (await import(`../../../functions/${name}.ts?cold=${process.pid}-${imports}-${i}`)).handler;
  const several = (name: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => fresh(name, i)));
  return {
    generate: (await several('create-generation', environments)) as unknown[],
    get: (await fresh('get-generation')) as unknown,
    remove: (await fresh('delete-generation')) as unknown,
    sweep: (await several('sweep', 2)) as (() => Promise<void>)[],
    run: (await several('run-generation', environments)) as QueueHandler[],
    release: (await fresh('release-generation')) as QueueHandler,
    cancel: (await fresh('cancel-generation')) as unknown,
  };
}

/** What a run comes to; null when its machine died before. */
function outcomeOf<Outcome>(run: Run, work: () => Promise<Outcome>): Promise<Outcome | null> {
  return new Promise((resolve, reject) => {
    run.onDeath.push(() => resolve(null));
    currentRun.run(run, work).then(resolve, reject);
  });
}

/** Runs a function that nobody waits for. @returns whether all went well; null when its machine died. */
export async function runJob(run: Run, job: () => Promise<void>): Promise<boolean | null> {
  const good = await outcomeOf(run, () =>
    job().then(
      () => true,
      () => false,
    ),
  );
  run.ended = good !== null;
  return good;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface HttpCall {
  /** The whole API key. */
  key: string;
  requestId?: string;
  query?: Record<string, string[]>;
  headers?: Record<string, string>;
  body?: string;
}

/** Has a function answer a request. @returns null when its machine died before it had. */
export async function call(
  run: Run,
  handler: unknown,
  { method, path }: Route,
  { key, requestId, query, headers, body }: HttpCall,
): Promise<Reply | null> {
  const sent = Object.entries({ authorization: `Bearer ${key}`, ...headers });
  const event = {
    resource: path,
    path: basePath + path,
    httpMethod: method,
    multiValueHeaders: Object.fromEntries(sent.map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: query ?? null,
    pathParameters: requestId === undefined ? {} : { requestId },
    body: body ?? null,
    isBase64Encoded: false,
    requestContext: { requestId: 'simulated' },
  };
  const reply = await outcomeOf(run, async () => {
    const answer = await invoke(handler, event as never, 600_000, () => {});
    const chunks: string[] = [];
    for await (const chunk of answer.body) chunks.push(String(chunk));
    return { status: answer.statusCode, headers: answer.headers, body: chunks.join('') };
  });
  run.ended = reply !== null;
  return reply;
}
