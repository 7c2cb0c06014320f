import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { importJob } from '../../../local/gateway/functions.ts';
import { installLambdaGlobal, invoke } from '../../../local/gateway/lambda-host.ts';
import { startSqs } from '../../../local/sqs/engine.ts';
import { environmentVariables } from '../../../shared/base/config.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { newId } from '../../../shared/base/ids.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { apiKeyStore, type KeyChanges } from '../../../shared/keys/store.ts';
import { catalogLifetimeMs, identityStore } from '../../../shared/identities/store.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { openTable, type Item, type Table } from '../../../shared/table/table.ts';
import { leaseIndex, ownerIndex } from '../../../shared/table/keys.ts';
import {
  identity as anIdentity,
  license as aLicense,
  startEngines,
} from '../../engine/generations/fixture.ts';
import { issueKey } from '../../support/grants.ts';
import { startCountingProxy, type Exchange } from './counting-proxy.ts';

/** What one run of a function used. */
export interface Counted {
  readUnits: number;
  /** Of the table. Writes in a transaction count twice, as on the bill. */
  tableWriteUnits: number;
  /** Index entries that were added or removed: one unit each, because all are smaller than a kilobyte. */
  indexWriteUnits: number;
  /** By method. */
  objectRequests: Record<string, number>;
  logLines: string[];
  answer: any;
  answerBytes: number;
}

/** Their ids and names are as long as real ones, because their length counts. */
export const identity = { ...anIdentity, identityId: newId('identity'), name: 'Test', slug: 'test' };
export const license = {
  ...aLicense,
  licenseId: newId('license'),
  ownerId: randomUUID(),
  creditsLimit: 100_000,
};

export type CountingFixture = Awaited<ReturnType<typeof startCountingFixture>>;

/** The engines behind counting proxies, and the real functions, which use the proxies. */
export async function startCountingFixture() {
  const engines = await startEngines();
  const { env } = process;
  const direct = openTable(engines.table.name);
  // The client reads the engine's address at its first request, before the variable names the proxy.
  await direct.documents.send(new ScanCommand({ TableName: direct.name }));
  let indexWriteUnits = 0;
  const tables = await startCountingProxy({
    target: env.AWS_ENDPOINT_URL_DYNAMODB!,
    rewrite: (body) =>
      Buffer.from(JSON.stringify({ ...JSON.parse(body.toString()), ReturnConsumedCapacity: 'TOTAL' })),
    async around(forward) {
      const before = await indexEntries(direct);
      const exchange = await forward();
      const after = await indexEntries(direct);
      indexWriteUnits += changes(before, after);
      return exchange;
    },
  });
  const objects = await startCountingProxy({ target: env.AWS_ENDPOINT_URL_S3! });
  const sqs = await startSqs({
    queues: {
      generations: { run: importJob('run-generation'), maxConcurrency: 2, visibilityMs: 600_000 },
    },
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID!, secretAccessKey: env.AWS_SECRET_ACCESS_KEY! },
    region: env.AWS_REGION!,
  });
  Object.assign(env, {
    AWS_ENDPOINT_URL_DYNAMODB: tables.url,
    AWS_ENDPOINT_URL_S3: objects.url,
    [environmentVariables.serviceName]: 'image-generation-prod',
    [environmentVariables.tableName]: engines.table.name,
    [environmentVariables.bucketName]: 'image-generation',
    [environmentVariables.modelEndpointName]: 'model',
    [environmentVariables.referenceFetcherUrl]: 'http://127.0.0.1:9/',
    [environmentVariables.generationQueueUrl]: sqs.urlOf('generations'),
    [environmentVariables.generationDeadlineSeconds]: '30',
    [environmentVariables.asyncDeadlineSeconds]: '600',
    [environmentVariables.retentionDays]: '90',
    [environmentVariables.embedParameters]: 'false',
  });
  installLambdaGlobal();
  const logLines: string[] = [];
  setLogSink((line) => void logLines.push(line));
  await licenseStore(engines.table).insert(license);
  await identityStore(engines.table).put(identity);
  // The first reservation of a period is refused once, and the engine counts no capacity of a refused transaction.
  await countInPeriod(
    engines.table,
    license.licenseId,
    billingPeriod(license.periodAnchorMs, Date.now()).startMs,
  );
  const { key, keyId } = await issueKey(engines.table, license);

  const systemNow = Date.now;
  let aheadMs = 0;
  Date.now = () => systemNow() + aheadMs;

  /** Runs something and counts what it uses. */
  async function count(run: () => Promise<string>): Promise<Counted> {
    await Promise.all([tables.take(), objects.take()]);
    indexWriteUnits = 0;
    logLines.length = 0;
    const text = await run();
    const units = unitsOf(await tables.take());
    return {
      ...units,
      indexWriteUnits,
      objectRequests: byMethod(await objects.take()),
      logLines: [...logLines],
      answer: text === '' ? null : JSON.parse(text),
      answerBytes: Buffer.byteLength(text),
    };
  }

  return {
    table: direct,
    /** The caller's raw API key. */
    key,
    keyId,
    /** What this key may use of its license. */
    async changeKey(wanted: KeyChanges): Promise<void> {
      const apiKeys = apiKeyStore(direct);
      await apiKeys.change((await apiKeys.get(keyId))!, wanted, Date.now());
    },
    container: engines.container,
    /** Lets time pass until the function reads the catalog again, as one does that has little to do. */
    forgetCatalog: () => void (aheadMs += catalogLifetimeMs),
    /** POST /generate, through the function's handler, and through the worker's where that runs it. */
    generate: (body: object, headers: Record<string, string> = {}) =>
      count(async () => {
        const { handler } = await import('../../../functions/create-generation.ts');
        const text = await call(handler, '/generate', { ...headers, authorization: `Bearer ${key}` }, body);
        await sqs.idle();
        return text;
      }),
    /** The same in OpenAI's format. */
    generateAsOpenAi: (body: object, headers: Record<string, string>) =>
      count(async () => {
        const { handler } = await import('../../../functions/create-openai-image.ts');
        const path = '/openai/v1/images/generations';
        return call(handler, path, { ...headers, authorization: `Bearer ${key}` }, body);
      }),
    /** The function that cancels a request. */
    cancel: (requestId: string) =>
      count(async () => {
        const { handler } = await import('../../../functions/cancel-generation.ts');
        const headers = { authorization: `Bearer ${key}` };
        return call(handler, `/generate/${requestId}/cancel`, headers, {}, { requestId });
      }),
    sweep: () =>
      count(async () => {
        const { handler } = await import('../../../functions/sweep.ts');
        await handler();
        return '';
      }),
    async close() {
      Date.now = systemNow;
      await Promise.all([tables.close(), objects.close(), sqs.close()]);
      await engines.close();
    },
  };
}

async function call(
  handler: unknown,
  path: string,
  headers: Record<string, string>,
  body: object,
  pathParameters: Record<string, string> = {},
) {
  const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([k, v]) => [k, [v]]));
  const requestContext = { requestId: '5f0c3c8e-6a55-4d6b-9b36-9a1b7f6a2c11' };
  const sent = { body: JSON.stringify(body), pathParameters };
  const event = { httpMethod: 'POST', path, multiValueHeaders, ...sent, requestContext };
  const running: Promise<unknown>[] = [];
  const answer = await invoke(handler, event as never, 60_000, (run) => void running.push(run));
  let text = '';
  for await (const chunk of answer.body) text += String(chunk);
  await Promise.all(running);
  if (answer.statusCode > 299) throw new Error(`${answer.statusCode} ${text}`);
  return text;
}

const reads = new Set(['GetItem', 'BatchGetItem', 'Query', 'Scan']);

function unitsOf(exchanges: Exchange[]): Pick<Counted, 'readUnits' | 'tableWriteUnits'> {
  let readUnits = 0;
  let tableWriteUnits = 0;
  for (const { headers, body } of exchanges) {
    const operation = String(headers['x-amz-target']).split('.')[1]!;
    const consumed = [JSON.parse(body.toString()).ConsumedCapacity].flat() as { CapacityUnits: number }[];
    const units = consumed.reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    // AWS charges a query without results as the smallest read.
    if (reads.has(operation)) readUnits += Math.max(units, 0.5);
    else tableWriteUnits += units;
  }
  return { readUnits, tableWriteUnits };
}

function byMethod(exchanges: Exchange[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { method } of exchanges) counts[method] = (counts[method] ?? 0) + 1;
  return counts;
}

const indexes = [ownerIndex, leaseIndex];

async function indexEntries({ documents, name: TableName }: Table): Promise<Map<string, Item>> {
  const entries = new Map<string, Item>();
  for (const { name, partition, sort } of indexes) {
    const { Items: items } = await documents.send(new ScanCommand({ TableName, IndexName: name }));
    for (const item of items ?? []) {
      entries.set([name, item.PK, item.SK, item[partition], item[sort]].join('\n'), item);
    }
  }
  return entries;
}

/** An entry with changed keys is removed and added: two writes. An entry with other changes is one write. */
function changes(before: Map<string, Item>, after: Map<string, Item>): number {
  const gone = [...before.keys()].filter((key) => !after.has(key));
  const written = [...after].filter(([key, item]) => !isDeepStrictEqual(item, before.get(key)));
  return gone.length + written.length;
}
