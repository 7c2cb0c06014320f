import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { pointSdkAt } from '../../../local/environment.ts';
import { listen } from '../../../local/http/server.ts';
import { startS3 } from '../local/s3/support.ts';
import { invocationPath, startLambda } from '../../../local/lambda/engine.ts';
import { handler as fetchReferences } from '../../../functions/fetch-references.ts';
import { referenceFetcherClient } from '../../../shared/references/reader-client.ts';
import { startSageMakerRuntime } from '../../../local/sagemaker/engine.ts';
import { modelServer } from '../../../shared/model/client.ts';
import { objectStore } from '../../../shared/images/object-store.ts';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { previewCacheControl } from '../../../shared/images/previews.ts';
import type { Clock } from '../../../shared/base/clock.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import type { IdentityVersion } from '../../../shared/identities/version.ts';
import type { Identity } from '../../../shared/identities/identity.ts';
import { generationStore } from '../../../shared/generations/store.ts';
import { periodStore } from '../../../shared/licenses/period-store.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { recordingMeter } from '../../../shared/base/meter.ts';
import {
  acceptGeneration,
  finishGeneration,
  type GenerationDeps,
} from '../../../shared/generations/create.ts';
import type { GenerationCommand } from '../../../shared/generations/decide.ts';
import type { Observer } from '../../../shared/generations/settle.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { sampleIdentity, sampleLicense } from '../../support/unit-samples.ts';
import type { Table } from '../../../shared/table/table.ts';
import { createTable, openDynamoDb } from './table.ts';

/** What the container does with one request: it may write anything, or nothing, and end when it likes. */
export type Behaviour = (request: ModelRequest, res: ServerResponse) => void | Promise<void>;

/** A clock that goes on by itself and can be set, and whose deadlines never pass: see `withDeadline`. */
function testClock(): Clock & { shiftMs: number } {
  return {
    shiftMs: 0,
    now() {
      return Date.now() + this.shiftMs;
    },
    timeout: () => new AbortController().signal,
  };
}

export const identity = sampleIdentity as Identity & { model: IdentityVersion };

export const license = { ...sampleLicense, creditsLimit: 100, periodAnchorMs: Date.UTC(2026, 0, 15) };

export type Fixture = Awaited<ReturnType<typeof startEngines>>;

/**
 * Real engines, and a container that each test scripts. The table is one of its own in the embedded
 * DynamoDB, or in what DYNAMODB_ENDPOINT names.
 */
export async function startEngines() {
  const folder = temporaryFolder();
  const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret' };
  const bucket = 'image-generation';
  const container = await startContainer();
  const [dynamoDb, s3, runtime, lambda] = await Promise.all([
    openDynamoDb(),
    startS3({ folder, bucketName: bucket, credentials, region: 'us-east-1' }),
    startSageMakerRuntime({
      endpoints: { model: container.url, nobody: 'http://127.0.0.1:9' },
    }),
    startLambda({ functions: { 'fetch-references': fetchReferences }, credentials, region: 'us-east-1' }),
  ]);
  pointSdkAt({ region: 'us-east-1', ...credentials, dynamoDbUrl: dynamoDb.url, s3Url: s3.url });
  process.env.AWS_ENDPOINT_URL_SAGEMAKER_RUNTIME = runtime.url;
  const table = await createTable();
  const clock = testClock();
  /** What would be logged. */
  const faults: { requestId: string; what: string; error: any }[] = [];
  const deps: GenerationDeps & { table: Table } = {
    table,
    generations: generationStore(table),
    periods: periodStore(table),
    objects: objectStore(bucket),
    rateLogs: rateLogStore(table),
    model: modelServer('model'),
    references: referenceFetcherClient(lambda.url + invocationPath('fetch-references')),
    clock,
    stopping: new AbortController().signal,
    // Longer than any test takes.
    deadlineSeconds: 600,
    asyncDeadlineSeconds: 800,
    retentionDays: 90,
    embedParameters: false,
    promptCheck: null,
    meter: recordingMeter(),
    logFault: (requestId, what, error) => void faults.push({ requestId, what, error }),
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

async function startContainer() {
  const state = { calls: 0, behaviour: deliver as Behaviour };
  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const request = await readBody(req);
    state.calls += 1;
    // Who closes the fixture in the middle of a picture closes the bucket that it would go to.
    await Promise.resolve(state.behaviour(request, res)).catch(() => res.destroy());
  };
  return { state, ...(await listen(createServer((req, res) => void answer(req, res)))) };
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

/** A container that writes these events and ends. */
export const says =
  (...events: unknown[]): Behaviour =>
  (_request, res) => {
    emit(res, ...events);
    res.end();
  };

/** Puts small files to all links. @returns what `completed` says of them. */
export async function putOutputs(request: ModelRequest) {
  const { width, height, outputFormat } = request;
  const headers = { 'content-type': `image/${outputFormat}` };
  const previewHeaders = { 'content-type': 'image/webp', 'cache-control': previewCacheControl };
  return Promise.all(
    request.outputs.map(async ({ putUrl, previewPutUrl }, i) => {
      const image = Buffer.from(`image ${request.seed + i}`);
      await fetch(putUrl, { method: 'PUT', headers, body: image });
      await fetch(previewPutUrl, { method: 'PUT', headers: previewHeaders, body: 'preview' });
      const sha256 = createHash('sha256').update(image).digest('hex');
      return { bytes: image.length, sha256, width, height, previewBytes: 'preview'.length };
    }),
  );
}

/** A container that does what it should. */
export const deliver: Behaviour = async (request, res) => {
  emit(res, { event: 'started' });
  const outputs = await putOutputs(request);
  emit(res, { event: 'completed', outputs, referenceImagesUsed: 0, modelVersion: 'test-1' });
  res.end();
};

let licenses = 0;

/** A command by a license of its own, with an empty period. */
export function newCommand(fixture: Fixture, changes: Partial<GenerationCommand> = {}): GenerationCommand {
  licenses += 1;
  return {
    requestId: newRequestId(fixture.clock.now()),
    keyId: `key_${String(licenses).padStart(32, '0')}`,
    keyBudget: null,
    keyMaxInFlight: null,
    license: { ...license, licenseId: `lic_${licenses}` },
    body: { identityId: identity.identityId, prompt: 'x', numOutputs: 2, width: 512, height: 512 },
    bodyHash: 'hash',
    identity,
    pinned: null,
    idempotencyKeyHash: null,
    idempotencyRecord: null,
    query: new Map(),
    idempotencyKeys: undefined,
    respondAsync: false,
    ...changes,
  };
}

/** Accepts and runs a command to its end. @returns its answer, or the error it ended with. */
export async function run(command: GenerationCommand, deps: GenerationDeps, observer: Observer = {}) {
  const acceptance = await acceptGeneration(command, deps);
  if (acceptance.outcome === 'replayed') throw new Error('replayed');
  return finishGeneration(acceptance, command.license, observer, deps).catch((error: unknown) => error);
}

/** Dependencies whose deadline passes when a test says so: nobody waits for it, and no slow machine meets it. */
export function withDeadline<Deps extends GenerationDeps>(deps: Deps) {
  const deadline = new AbortController();
  const clock = { ...deps.clock, timeout: () => deadline.signal };
  return { deps: { ...deps, clock }, pass: () => deadline.abort(new DOMException('', 'TimeoutError')) };
}

/** The command's record and period totals, as they are stored now. */
export async function stored(fixture: Fixture, command: GenerationCommand) {
  const { licenseId } = command.license;
  const generation = await fixture.deps.generations.get(licenseId, command.requestId);
  const period = await fixture.deps.periods.get(licenseId, generation?.periodStartMs ?? 0);
  return { generation, period };
}
