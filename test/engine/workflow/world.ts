import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import { startS3 } from '../../../local/s3/server.ts';
import { invocationPath, startLambda } from '../../../local/lambda/engine.ts';
import { handler as fetchReferences } from '../../../functions/fetch-references.ts';
import { referenceReader } from '../../../shared/adapters/reference-reader.ts';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { modelServer } from '../../../shared/adapters/model-server.ts';
import { objectStore } from '../../../shared/adapters/object-store.ts';
import type { ModelRequest } from '../../../shared/contracts/model-server.ts';
import type { Clock } from '../../../shared/domain/clock.ts';
import { newRequestId } from '../../../shared/domain/ids.ts';
import type { Identity } from '../../../shared/domain/identity.ts';
import type { License } from '../../../shared/domain/license.ts';
import { generationStore } from '../../../shared/store/generation-store.ts';
import { periodStore } from '../../../shared/store/period-store.ts';
import { tableSchema } from '../../../shared/store/table-keys.ts';
import { recordingMeter } from '../../../shared/http/meter.ts';
import { patientTable } from '../../support/patient-table.ts';
import {
  acceptGeneration,
  finishGeneration,
  type GenerationDeps,
  type GenerationOrder,
  type Observer,
} from '../../../shared/workflow/create-generation.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';

/** What the container does with one request: it may write anything, or nothing, and end when it likes. */
export type Behaviour = (request: ModelRequest, res: ServerResponse) => void | Promise<void>;

/** A clock that goes on by itself and can be set. */
export function testClock(): Clock & { shiftMs: number } {
  return {
    shiftMs: 0,
    now() {
      return Date.now() + this.shiftMs;
    },
    timeout: (ms) => AbortSignal.timeout(ms),
  };
}

export const identity: Identity & { model: NonNullable<Identity['model']> } = {
  identityId: 'idn_test',
  name: 'Test',
  slug: 'test',
  description: '',
  catalog: 'founding',
  productPhotos: false,
  model: { version: '1', adapterKey: null, adapterSha256: null, settings: {} },
};

export const license: License = {
  licenseId: 'lic_test',
  ownerId: 'owner',
  tier: 'pro',
  creditsLimit: 100,
  foundingCatalog: true,
  identityIds: [],
  apiAccess: true,
  status: 'active',
  periodAnchorMs: Date.UTC(2026, 0, 15),
  activeUntilMs: null,
  createdAtMs: 0,
};

export type World = Awaited<ReturnType<typeof startWorld>>;

/**
 * Every engine for real, and a container that each test scripts. The table is one of its own in the embedded
 * DynamoDB, or in what DYNAMODB_ENDPOINT names.
 */
export async function startWorld() {
  const folder = temporaryFolder();
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  const bucket = 'image-generation';
  const container = await startContainer();
  const [dynamoDb, s3, runtime, lambda] = await Promise.all([
    openDynamoDb(),
    startS3({ folder, buckets: [bucket], credentials, region: 'us-east-1' }),
    startSageMakerRuntime({
      endpoints: { model: container.url, nobody: 'http://127.0.0.1:9' },
    }),
    startLambda({ functions: { 'fetch-references': fetchReferences }, credentials, region: 'us-east-1' }),
  ]);
  pointSdkAt({ region: 'us-east-1', ...credentials, dynamoDbUrl: dynamoDb.url, s3Url: s3.url });
  process.env.AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME = runtime.url;
  const table = patientTable(`workflow-${randomUUID()}`);
  await table.documents.send(
    new CreateTableCommand({ TableName: table.name, ...structuredClone(tableSchema) } as never),
  );
  const clock = testClock();
  /** What would be logged. */
  const faults: { requestId: string; error: any }[] = [];
  const deps: GenerationDeps = {
    generations: generationStore(table),
    periods: periodStore(table),
    objects: objectStore(bucket),
    model: modelServer('model'),
    references: referenceReader(lambda.url + invocationPath('fetch-references')),
    clock,
    stopping: new AbortController().signal,
    deadlineSeconds: 2,
    retentionDays: 90,
    meter: recordingMeter(),
    logFault: (requestId, _what, error) => void faults.push({ requestId, error }),
  };
  return {
    table,
    clock,
    deps,
    container,
    faults,
    async close() {
      await Promise.all([dynamoDb, s3, runtime, lambda, container].map((engine) => engine.close()));
      removeFolder(folder);
    },
  };
}

/** The embedded DynamoDB, or what DYNAMODB_ENDPOINT names. */
export async function openDynamoDb(): Promise<{ url: string; close(): Promise<void> }> {
  const given = process.env['DYNAMODB_ENDPOINT'];
  return given ? { url: given, close: async () => undefined } : startDynamoDb({ folder: null });
}

async function startContainer() {
  const state = { calls: 0, behaviour: paint as Behaviour };
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const request = await readBody(req);
    state.calls += 1;
    await state.behaviour(request, res);
  };
  const server = createServer((req, res) => void answer(req, res));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function readBody(req: IncomingMessage): Promise<ModelRequest> {
  let body = '';
  for await (const chunk of req) body += String(chunk);
  return JSON.parse(body);
}

/** Writes events as the contract says, one line each. */
export function emit(res: ServerResponse, ...events: unknown[]): void {
  for (const event of events) res.write(`${JSON.stringify(event)}\n`);
}

/** Puts small files to all links. @returns what `completed` says of them. */
export async function putOutputs(request: ModelRequest) {
  const { width, height, outputFormat } = request;
  const headers = { 'content-type': `image/${outputFormat}` };
  return Promise.all(
    request.outputs.map(async ({ putUrl }, i) => {
      const image = Buffer.from(`image ${request.seed + i}`);
      await fetch(putUrl, { method: 'PUT', headers, body: image });
      const sha256 = createHash('sha256').update(image).digest('hex');
      return { bytes: image.length, sha256, width, height };
    }),
  );
}

/** A container that does what it should. */
export const paint: Behaviour = async (request, res) => {
  emit(res, { event: 'started' });
  const outputs = await putOutputs(request);
  emit(res, { event: 'completed', outputs, referenceImagesUsed: 0, modelVersion: 'test-1' });
  res.end();
};

let licenses = 0;

/** An order by a license of its own, with an empty period. */
export function newOrder(world: World, changes: Partial<GenerationOrder> = {}): GenerationOrder {
  licenses += 1;
  return {
    requestId: newRequestId(world.clock.now()),
    keyId: `key_${licenses}`,
    license: { ...license, licenseId: `lic_${licenses}` },
    body: { identityId: identity.identityId, prompt: 'x', numOutputs: 2, width: 512, height: 512 },
    bodyHash: 'hash',
    identity,
    onceId: null,
    once: null,
    problems: [],
    ...changes,
  };
}

/** Accepts and runs an order to its end. @returns its answer, or the error it ended with. */
export async function run(order: GenerationOrder, deps: GenerationDeps, observer: Observer = {}) {
  const acceptance = await acceptGeneration(order, deps);
  if (acceptance.outcome === 'replayed') throw new Error('replayed');
  return finishGeneration(acceptance, order.license, observer, deps).catch((error: unknown) => error);
}

/** The order's record and books, as they are stored now. */
export async function stored(world: World, order: GenerationOrder) {
  const { licenseId } = order.license;
  const generation = await world.deps.generations.get(licenseId, order.requestId);
  const period = await world.deps.periods.get(licenseId, generation?.periodStartMs ?? 0);
  return { generation, period };
}
