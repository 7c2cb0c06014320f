import { setFunctionEnvironment } from '../../../local/environment.ts';
import { invoke, installLambdaGlobal } from '../../../local/gateway/lambda-host.ts';
import { basePath } from '../../../shared/routes/api.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import type { Profile } from './faults.ts';
import { currentRun, type Run } from './runs.ts';

const nowhere = 'http://127.0.0.1:1';
const deadlineSeconds = 60;

/** The environment that functions are made in: every address is the simulation's. */
export function prepareEnvironment(
  tableName: string,
  { asyncDeadlineSeconds, notesWaking }: Pick<Profile, 'asyncDeadlineSeconds' | 'notesWaking'>,
): void {
  setFunctionEnvironment({
    region: 'us-east-1',
    tableName,
    bucketName: 'bucket',
    modelEndpointName: 'model',
    modelComponentName: notesWaking ? 'component' : '',
    accessKeyId: 'AKIDSIMULATION',
    secretAccessKey: 'secret',
    dynamoDbUrl: nowhere,
    s3Url: nowhere,
    cognitoUrl: nowhere,
    sesUrl: nowhere,
    dashboardUrl: 'https://dashboard.test/',
    userPoolId: 'us-east-1_test',
    sageMakerRuntimeUrl: nowhere,
    referenceFetcherUrl: `${nowhere}/2015-03-31/functions/fetch-references/invocations`,
    generationWorkerUrl: `${nowhere}/2015-03-31/functions/run-generation/invocations`,
    deadlineSeconds,
    asyncDeadlineSeconds,
    allowedOrigins: [],
    session: { issuer: nowhere, jwksUrl: nowhere, clientId: 'none' },
  });
  process.env.AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME = nowhere;
  setLogSink(() => {});
  installLambdaGlobal();
}

export interface Functions {
  /** Several environments of one function, each with clients and memory of its own. */
  generate: unknown[];
  get: unknown;
  remove: unknown;
  sweep: (() => Promise<void>)[];
  run: EventHandler[];
  release: EventHandler;
}

/** Lambda tells a function what it calls the event. */
export type EventHandler = (event: unknown, context: { awsRequestId: string }) => Promise<void>;

let imports = 0;

/** Functions as after a cold start: each import is another environment. */
export async function coldStart(environments: number): Promise<Functions> {
  imports += 1;
  const fresh = async (name: string, i: number) =>
    (await import(`../../../functions/${name}.ts?cold=${process.pid}-${imports}-${i}`)).handler;
  return {
    generate: await Promise.all(
      Array.from({ length: environments }, (_, i) => fresh('create-generation', i)),
    ),
    get: await fresh('get-generation', 0),
    remove: await fresh('delete-generation', 0),
    sweep: await Promise.all([0, 1].map((i) => fresh('sweep', i))),
    run: await Promise.all(Array.from({ length: environments }, (_, i) => fresh('run-generation', i))),
    release: await fresh('release-generation', 0),
  };
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export interface HttpCall {
  method: 'GET' | 'POST' | 'DELETE';
  resource: string;
  pathParameters?: Record<string, string>;
  query?: Record<string, string[]>;
  headers: Record<string, string>;
  body?: string;
}

/** Has a function answer a request. @returns null when it died before it had. */
export function call(run: Run, handler: unknown, request: HttpCall): Promise<Reply | null> {
  return new Promise((resolve, reject) => {
    run.onDeath.push(() => resolve(null));
    currentRun.run(run, () => answer(handler, request)).then(resolve, reject);
  });
}

async function answer(handler: unknown, request: HttpCall): Promise<Reply> {
  const { statusCode, headers, body } = await invoke(
    handler,
    proxyEvent(request) as never,
    600_000,
    () => {},
  );
  const chunks: string[] = [];
  for await (const chunk of body) chunks.push(String(chunk));
  return { status: statusCode, headers, body: chunks.join('') };
}

/** Runs a function that nobody waits for. @returns whether it said that all went well; null when it died. */
export function runJob(run: Run, job: () => Promise<void>): Promise<boolean | null> {
  return new Promise((resolve) => {
    run.onDeath.push(() => resolve(null));
    currentRun.run(run, job).then(
      () => resolve(true),
      () => resolve(false),
    );
  });
}

function proxyEvent({ method, resource, pathParameters = {}, query, headers, body }: HttpCall): object {
  return {
    resource,
    path: basePath + resource,
    httpMethod: method,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    multiValueQueryStringParameters: query ?? null,
    pathParameters,
    body: body ?? null,
    isBase64Encoded: false,
    requestContext: { requestId: 'simulated' },
  };
}
