import type { RunningServer } from '../../local/http/server.ts';
import { startPainter } from '../../painter/src/server.ts';
import { startSageMakerRuntime } from '../../local/sagemaker/engine.ts';
import type { CopyScaling } from '../../local/sagemaker/scale-to-zero.ts';
import { readEngines } from '../../bin/common/connection.ts';
import { modelStackNameOf, readConfiguration } from '../../lib/configuration.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { newId } from '../../shared/base/ids.ts';
import { routes } from '../../shared/routes/routes.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { startLambda as startLambdaEngine } from '../../local/lambda/engine.ts';
import { startSqs } from '../../local/sqs/engine.ts';
import type { QueueOptions } from '../../local/sqs/queue.ts';
import {
  bucketNeeds,
  functionNeeds,
  modelNeeds,
  queueNeeds,
  startAuthorizingProxy,
} from './authorizing-proxy.ts';
import { everything, ownCheck } from './configurations.ts';
import { startDeployedCheck } from './deployed-check.ts';
import {
  answerOf,
  proxyEvent,
  splitStream,
  type DeployedAnswer,
  type DeployedCall,
} from './deployed-calls.ts';
import {
  abandonGeneration,
  addAdaptedIdentity,
  billingEvents,
  leaveNotification,
  storeLinkCredentials,
} from './deployed-rows.ts';
import { tableOf } from './grants.ts';
import { startLambda, type LambdaAnswer, type LambdaProcess } from './lambda-process.ts';
import {
  aliasIdOf,
  functionIdOf,
  idOf,
  isAllowed,
  resolver,
  statementsOf,
  unusedOf,
  type Asked,
  type Resolve,
  type Statement,
  type Template,
} from './policies.ts';
import type { RunningService } from './service.ts';
import { assetOf, type Synthesized } from './synthesized.ts';
import { lineOf, needsOf, readTableRequest } from './table-requests.ts';
import { until } from './until.ts';

const account = '000000000000';
const region = 'us-east-1';

/** Of an endpoint or an inference component. */
function modelArn(kind: string, name: string): string {
  return `arn:aws:sagemaker:${region}:${account}:${kind}/${name}`;
}

function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${account}:function:${name}`;
}

function queueArn(id: string): string {
  return `arn:aws:sqs:${region}:${account}:${id}`;
}

export type Deployed = Awaited<ReturnType<typeof startDeployed>>;

/** The issuer of the template's user pool, with any id. */
const userPoolUrl = /^https:\/\/cognito-idp\.[^/]+\/<\w+>/;
const lambdaUrl = `https://lambda.${region}.amazonaws.com`;
const sqsUrl = `https://sqs.${region}.amazonaws.com`;
const referenceFunction = jobs.fetchReferences.functionName;
const queueFunctions = [jobs.runGeneration.functionName, jobs.releaseGeneration.functionName];
const allRoutes: Route[] = Object.values(routes);
const functionNames = [...allRoutes, ...Object.values(jobs)].map(({ functionName }) => functionName);
const subscriptionId = `sub_${newId('license').slice(4)}`;

export interface DeployedOptions {
  /** The one that was synthesized. */
  configuration?: object;
  /** The model, where the configuration lets it scale to zero. */
  scaling?: CopyScaling | null;
}

interface RunningFunction {
  lambda: LambdaProcess;
  statements: Statement[];
  /** Everything that it asked for and that its role allows. */
  asked: Asked[];
  /** Its requests to the table, each in a line. */
  tableRequests: Set<string>;
  proxies: RunningServer[];
}

/** The engines that the functions reach through their roles. */
interface Engines extends ReturnType<typeof readEngines> {
  modelUrl: string;
  lambdaUrl: string;
  sqsUrl: string;
  check: Awaited<ReturnType<typeof startDeployedCheck>>;
}

/**
 * Every function of a synthesized stack, each in a process of its own, with the variables and behind the role that the
 * template gives it, over the engines of a running service.
 */
export async function startDeployed(
  synthesized: Synthesized,
  service: RunningService,
  { configuration = everything, scaling = null }: DeployedOptions = {},
) {
  const { template } = synthesized;
  const credentials = readEngines(service.dataDir);
  const table = tableOf(service.dataDir);
  await storeLinkCredentials(table, credentials);
  const resolve = resolver(knownNames(template, credentials, configuration));
  const refused: (Asked & { by: string })[] = [];
  const painter = await startPainter();
  const endpointName = modelVariableOf(template, resolve, 'MODEL_ENDPOINT_NAME');
  const runtime = await startSageMakerRuntime({
    endpoints: { [endpointName]: painter.url },
    ...(scaling !== null && {
      component: {
        name: modelVariableOf(template, resolve, 'MODEL_COMPONENT_NAME'),
        endpointName,
        scaling,
        signing: { credentials, region },
      },
    }),
  });
  const functions = new Map<string, RunningFunction>();
  const runOf = (name: string) => async (event: unknown) => {
    const { failed, returned } = await functions.get(name)!.lambda.invoke(event);
    if (failed !== undefined) throw new Error(failed);
    return returned;
  };
  const lambdaEngine = await startLambdaEngine({
    functions: { [referenceFunction]: runOf(referenceFunction) },
    credentials,
    region,
  });
  const queues = Object.fromEntries(
    queueFunctions.map((name) => {
      const [id, queue] = queueOf(template, name);
      return [id, { ...queue, run: runOf(name) }];
    }),
  );
  const sqs = await startSqs({ queues, credentials, region });
  const check = await startDeployedCheck({ credentials });
  const engines = {
    ...credentials,
    modelUrl: runtime.url,
    lambdaUrl: lambdaEngine.url,
    sqsUrl: sqs.url,
    check,
  };
  await Promise.all(
    functionNames.map(async (name) => {
      const onRefused = (wish: Asked) => refused.push({ by: name, ...wish });
      functions.set(name, await startFunction(name, synthesized, { engines, resolve, onRefused }));
    }),
  );

  const adaptedIdentityId = await addAdaptedIdentity(table);
  const invoke = (name: string, event: unknown): Promise<LambdaAnswer> =>
    functions.get(name)!.lambda.invoke(event);

  return {
    refused,
    adaptedIdentityId,
    invoke,
    /** What a function has asked for so far. */
    asked: (name: string) => functions.get(name)!.asked,
    assetOf: (name: string) => assetOf(synthesized, functionIdOf(template, name)),
    streaming: () => [...functions].filter(([, { lambda }]) => lambda.streams).map(([name]) => name),
    logOf: (name: string) => functions.get(name)!.lambda.log(),
    logs: () => [...functions.values()].map(({ lambda }) => lambda.log()).join(''),

    /** As API Gateway would call it. */
    async call(name: string, call: DeployedCall): Promise<DeployedAnswer> {
      const { failed, returned, streamed } = await invoke(name, proxyEvent(name, call));
      if (failed !== undefined) throw new Error(failed);
      return streamed ? splitStream(streamed) : answerOf(returned);
    },

    /** Permissions for the table, the bucket, the model and other functions that no function used. */
    grantedButUnused: () =>
      [...functions].flatMap(([name, { statements, asked }]) =>
        unusedOf(statements, asked).map((what) => `${name}: ${what}`),
      ),

    /** What each function asked of the table so far, a line for each kind of request. */
    tableRequests: () =>
      [...functions].flatMap(([name, { tableRequests }]) =>
        [...tableRequests].toSorted().map((line) => `${name} ${line}`),
      ),

    /** Resolves once every request has ended that nobody waits for. */
    idle: () => until('the queues are empty', () => sqs.messages() === 0),

    abandonGeneration: () => abandonGeneration(table, adaptedIdentityId),
    leaveNotification: () => leaveNotification(table),
    billingEvents: () => billingEvents(subscriptionId),
    billedLicense: () => licenseStore(table).get(`lic_${subscriptionId}`),

    async close() {
      await Promise.all([...functions.values()].map(({ lambda }) => lambda.end()));
      const proxies = [...functions.values()].flatMap((fn) => fn.proxies);
      await Promise.all(
        [...proxies, runtime, painter, lambdaEngine, sqs, check].map((engine) => engine.close()),
      );
    },
  };
}

/** The logical id of the queue whose messages a function handles, and how it gets them. */
function queueOf(template: Template, functionName: string): [id: string, options: QueueOptions] {
  const aliasId = aliasIdOf(template, functionName);
  const isIts = ({ FunctionName }: any) => JSON.stringify(FunctionName).includes(`"${aliasId}"`);
  const mapping = template.Resources[idOf(template, 'AWS::Lambda::EventSourceMapping', isIts)]!.Properties;
  const idIn = (arn: any): string => arn['Fn::GetAtt'][0];
  const id = idIn(mapping.EventSourceArn);
  const { VisibilityTimeout, RedrivePolicy } = template.Resources[id]!.Properties;
  const options = {
    maxConcurrency: mapping.ScalingConfig.MaximumConcurrency,
    visibilityMs: VisibilityTimeout * 1000,
  };
  if (RedrivePolicy === undefined) return [id, options];
  const { deadLetterTargetArn, maxReceiveCount } = RedrivePolicy;
  return [id, { ...options, deadLetters: { queue: idIn(deadLetterTargetArn), maxReceiveCount } }];
}

async function startFunction(
  name: string,
  synthesized: Synthesized,
  { engines, resolve, onRefused }: { engines: Engines; resolve: Resolve; onRefused(wish: Asked): void },
): Promise<RunningFunction> {
  const { template } = synthesized;
  const id = functionIdOf(template, name);
  const statements = statementsOf(template, id, resolve);
  const asked: Asked[] = [];
  const tableRequests = new Set<string>();
  const options = {
    isAllowed: (wish: Asked) => isAllowed(statements, wish),
    onAsked: (wish: Asked, allowed: boolean) => void (allowed ? asked.push(wish) : onRefused(wish)),
  };
  const bucketArn = `arn:aws:s3:::${engines.bucketName}`;
  const tableArn = `arn:aws:dynamodb:${region}:${account}:table/${engines.tableName}`;
  const proxies = await Promise.all([
    startAuthorizingProxy({
      ...options,
      target: engines.dynamoDbUrl,
      needs(message, body) {
        const request = readTableRequest(message, body);
        tableRequests.add(lineOf(request));
        return needsOf(request, tableArn);
      },
    }),
    startAuthorizingProxy({ ...options, target: engines.s3Url, needs: bucketNeeds(bucketArn) }),
    startAuthorizingProxy({
      ...options,
      target: engines.modelUrl,
      needs: modelNeeds(modelArn, bucketArn),
    }),
    startAuthorizingProxy({ ...options, target: engines.lambdaUrl, needs: functionNeeds(functionArn) }),
    startAuthorizingProxy({ ...options, target: engines.sqsUrl, needs: queueNeeds(queueArn) }),
  ]);
  const [dynamoDb, s3, sageMaker, invocations, queues] = proxies.map(({ url }) => url);
  const asset = assetOf(synthesized, id);
  const pool = sessionSettings(engines.s3Url).issuer;
  const lambda = await startLambda(`${asset}/index.js`, {
    ...variablesOf(template, id, resolve, {
      asset,
      pool,
      invocations: invocations!,
      queues: queues!,
      check: engines.check.url,
    }),
    AWS_ENDPOINT_URL_SECRETS_MANAGER: engines.check.secretsUrl,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: engines.accessKeyId,
    AWS_SECRET_ACCESS_KEY: engines.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: dynamoDb!,
    AWS_ENDPOINT_URL_S3: s3!,
    AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME: sageMaker!,
    AWS_ENDPOINT_URL_SAGEMAKER: sageMaker!,
    AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER: engines.cognitoUrl,
    ...(name === jobs.sendNotices.functionName && { USER_POOL_ID: engines.userPoolId }),
  });
  return { lambda, statements, asked, tableRequests, proxies };
}

function modelVariableOf(template: Template, resolve: Resolve, variable: string): string {
  const id = functionIdOf(template, routes.createGeneration.functionName);
  return resolve(template.Resources[id]!.Properties.Environment.Variables[variable]);
}

/** The values of the template's references. */
function knownNames(
  template: Template,
  { tableName, bucketName, s3Url }: { tableName: string; bucketName: string; s3Url: string },
  configuration: object,
): Record<string, string> {
  const tableId = idOf(template, 'AWS::DynamoDB::Table');
  const ofImages = (properties: object) => JSON.stringify(properties).includes('generations/');
  const bucketId = idOf(template, 'AWS::S3::Bucket', ofImages);
  const modelName = modelStackNameOf(readConfiguration(configuration, 'The test'))!;
  return {
    'AWS::Region': region,
    'AWS::AccountId': account,
    'AWS::Partition': 'aws',
    'AWS::URLSuffix': 'amazonaws.com',
    [tableId]: tableName,
    [`${tableId}.Arn`]: `arn:aws:dynamodb:${region}:${account}:table/${tableName}`,
    [bucketId]: bucketName,
    [`${bucketId}.Arn`]: `arn:aws:s3:::${bucketName}`,
    ...Object.fromEntries(
      queueFunctions.flatMap((name) => {
        const [id] = queueOf(template, name);
        return [
          [id, `${sqsUrl}/${account}/${id}`],
          [`${id}.Arn`, queueArn(id)],
        ];
      }),
    ),
    [functionIdOf(template, referenceFunction)]: referenceFunction,
    [`${functionIdOf(template, referenceFunction)}.Arn`]: functionArn(referenceFunction),
    [`${modelName}-endpoint`]: modelName,
    [`${modelName}-component`]: `${modelName}-component`,
    [idOf(template, 'AWS::Cognito::UserPoolClient')]: sessionSettings(s3Url).clientId,
  };
}

/** The template's variables, with the local user pool, engines and bundle folder. */
function variablesOf(
  template: Template,
  id: string,
  resolve: Resolve,
  {
    asset,
    pool,
    invocations,
    queues,
    check,
  }: Record<'asset' | 'pool' | 'invocations' | 'queues' | 'check', string>,
): Record<string, string> {
  const variables: Record<string, unknown> = template.Resources[id]!.Properties.Environment.Variables;
  const local = (value: string) =>
    value
      .replace(userPoolUrl, pool)
      .replace('/var/task', asset)
      .replace(lambdaUrl, invocations)
      .replace(sqsUrl, queues)
      .replace(ownCheck.url, check);
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, local(resolve(value))]));
}
