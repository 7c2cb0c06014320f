import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readEngines } from '../../bin/common/connection.ts';
import { importJob } from '../../local/gateway/functions.ts';
import { startSageMakerRuntime } from '../../local/sagemaker/engine.ts';
import { scaleToZero } from '../../local/sagemaker/scale-to-zero.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { startSqs } from '../../local/sqs/engine.ts';
import { generationStore } from '../../shared/generations/store.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { resourcesOf } from '../infra/resources.ts';
import { keepService } from '../support/fixture.ts';
import { grant } from '../support/grants.ts';
import { openGateway } from '../support/recorded-gateway.ts';
import { small } from '../support/requests.ts';
import { callApi } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { templateOf } from '../support/stack-templates.ts';
import { until } from '../support/until.ts';
import { useFixture } from '../support/use-fixture.ts';

/** All that a new account runs at once. */
const executions = 10;
/** What such an account's deployment brings to the worker at once. */
const { MaximumConcurrency: maxConcurrency } = [
  ...resourcesOf(templateOf('default'), 'AWS::Lambda::EventSourceMapping').values(),
].find(({ Properties }) => Properties.ScalingConfig !== undefined && Properties.BatchSize === 1)!.Properties
  .ScalingConfig;

const running = { worker: 0, api: 0, most: 0 };
/** Counts one execution while it runs. */
async function count<T>(kind: 'worker' | 'api', run: () => Promise<T>): Promise<T> {
  running[kind] += 1;
  running.most = Math.max(running.most, running.worker);
  try {
    return await run();
  } finally {
    running[kind] -= 1;
  }
}

let isAwake = false;

const fixture = useFixture(async (keep) => {
  const service = await keepService(keep);
  const engines = readEngines(service.dataDir);
  const { accessKeyId, secretAccessKey, region } = engines;
  const signing = { credentials: { accessKeyId, secretAccessKey }, region };
  const container = keep(
    await startContainer((request, res) => {
      emit(res, { event: 'started' });
      return deliver(request, res);
    }),
  );
  const scaling = { ...scaleToZero({ idleMs: 1000, coldStartMs: 1000 }), begin: () => isAwake };
  const component = { name: 'component', endpointName: 'model', scaling, signing };
  const runtime = keep(await startSageMakerRuntime({ endpoints: { model: container.url }, component }));
  const run = importJob('run-generation');
  const sqs = keep(
    await startSqs({
      queues: {
        requests: {
          run: (event) => count('worker', () => run(event)),
          maxConcurrency,
          visibilityMs: 600_000,
        },
      },
      ...signing,
    }),
  );
  const gateway = keep(
    await openGateway({
      ...engines,
      session: sessionSettings(engines.s3Url),
      sageMakerRuntimeUrl: runtime.url,
      modelComponentName: component.name,
      generationQueueUrl: sqs.urlOf('requests'),
    }),
  );
  return { ...gateway, service, sqs };
});

/** Lambda refuses what the account has no execution for. */
const through = (call: Parameters<typeof callApi>[1]) =>
  running.worker + running.api < executions
    ? count('api', () => callApi(fixture.baseUrl, call))
    : Promise.resolve({ status: 429 });

test('whoever would wait a minute for a model that sleeps is told after some seconds to come again, and holds no execution any more', async () => {
  const { key } = await grant(fixture.service.table);
  const body = { ...small, identityId: fixture.service.ready.identities.aurora };
  const startedMs = performance.now();
  const waiting = ['wait=60', 'respond-async, wait=60'].flatMap((prefer) =>
    [1, 2, 3, 4].map(() => callApi(fixture.baseUrl, { path: '/generate', key, body, headers: { prefer } })),
  );
  for (const { status, headers } of await Promise.all(waiting)) {
    expect([status, headers.get('preference-applied')]).toEqual([202, 'respond-async']);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(200);
  }
  console.log(`they held an execution each for ${(performance.now() - startedMs).toFixed(0)} ms`);
});

test('50 asynchronous requests for a model that sleeps leave an account of 10 executions room to revoke a key, and all are generated', async () => {
  const { table, ready, dataDir } = fixture.service;
  const licenses = await Promise.all(Array.from({ length: 5 }, () => grant(table)));
  const body = { ...small, identityId: ready.identities.aurora };
  for (let i = 0; i < 10; i++) {
    const statuses = licenses.map(async ({ key }) => {
      const asked = { path: '/generate', key, body, headers: { prefer: 'respond-async' } };
      return (await through(asked)).status;
    });
    expect(await Promise.all(statuses)).toEqual([202, 202, 202, 202, 202]);
  }
  const owner = await grant(table, { ownerId: randomUUID() });
  const session = await sessionOf(dataDir, { sub: owner.license.ownerId });
  const startedMs = performance.now();
  const revoked = await through({ method: 'DELETE', path: `/keys/${owner.keyId}`, key: session });
  const revokedMs = performance.now() - startedMs;
  expect([revoked.status, fixture.sqs.messages(), running.most]).toEqual([200, 58, maxConcurrency]);

  isAwake = true;
  await until('all are generated', () => fixture.sqs.messages() === 0);
  for (const { license } of licenses) {
    const { generations } = await generationStore(table).listPage(license.licenseId, {
      limit: 20,
      before: null,
      filter: {},
      reads: null,
      nowMs: Date.now(),
    });
    expect(generations.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 'COMPLETED'));
  }
  console.log(
    `50 asynchronous requests of a model that sleeps held ${running.most} of ${executions} executions at most; a revocation took ${revokedMs.toFixed(0)} ms`,
  );
});
