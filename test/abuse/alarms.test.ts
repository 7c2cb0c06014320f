import { expect, test } from '@jest/globals';
import { readEngines } from '../../bin/common/connection.ts';
import { importJob } from '../../local/gateway/functions.ts';
import { invocationPath, startLambda } from '../../local/lambda/engine.ts';
import { startSageMakerRuntime } from '../../local/sagemaker/engine.ts';
import { scaleToZero } from '../../local/sagemaker/scale-to-zero.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { startSqs } from '../../local/sqs/engine.ts';
import { setLogSink } from '../../shared/base/log.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { monitored } from '../infra/monitored.ts';
import { headersOf, messageOf } from '../support/agent.ts';
import { embeddedValues, rings, type CountedByAws } from '../support/counted-metrics.ts';
import { keepService } from '../support/fixture.ts';
import { grant } from '../support/grants.ts';
import { callersOf, send } from '../support/hostile.ts';
import { hostileRequests } from '../support/hostile-requests.ts';
import { openGateway } from '../support/recorded-gateway.ts';
import { small } from '../support/requests.ts';
import { callApi, type ApiCall } from '../support/service.ts';
import { pause, until } from '../support/until.ts';
import { samplePhoto, sendFile } from '../support/uploads.ts';
import { useFixture } from '../support/use-fixture.ts';

const lines: any[] = [];
const times = 8;
/** Aborts once some of those who hang up are being served. */
const leaving = new AbortController();
let [served, callsAtZero, clockMs] = [0, 0, 0];

/** The service with a model that does what a prompt says, and falls asleep when the clock is put forward. */
const fixture = useFixture(async (keep) => {
  const service = await keepService(keep);
  const engines = readEngines(service.dataDir);
  const { accessKeyId, secretAccessKey, region } = engines;
  const signing = { credentials: { accessKeyId, secretAccessKey }, region };
  const container = keep(
    await startContainer(async (request, res) => {
      const fail = (reason: string) =>
        res.end(`${JSON.stringify({ event: 'failed', reason, message: '', reference: 0 })}\n`);
      if (request.prompt === 'busy') return void fail('busy');
      if (request.prompt === 'lost') return void fail('unavailable');
      while (request.prompt === 'in line' && !res.destroyed) {
        emit(res, { event: 'queued', position: 2, etaSeconds: 9 });
        await pause(250);
      }
      emit(res, { event: 'started' });
      if (request.prompt === 'unreadable') return void fail('reference_invalid');
      if (request.prompt === 'cancelled') {
        await until('it is cancelled', async () => (await fetch(request.cancelUrl!)).status === 200);
        return void fail('cancelled');
      }
      if (request.prompt === 'left') {
        if (++served === times) leaving.abort();
        await until('all hang up', () => leaving.signal.aborted);
        await pause(100);
      }
      if (request.prompt !== 'endless') return deliver(request, res);
      for (let step = 1; !res.destroyed; step++) {
        emit(res, { event: 'progress', step, steps: 1000 });
        await pause(250);
      }
    }),
  );
  const sleeping = scaleToZero({ idleMs: 1000, coldStartMs: 1e9, now: () => clockMs });
  const scaling: typeof sleeping = {
    ...sleeping,
    begin() {
      const isAwake = sleeping.begin();
      if (!isAwake) callsAtZero++;
      return isAwake;
    },
  };
  const component = { name: 'component', endpointName: 'model', scaling, signing };
  const runtime = keep(await startSageMakerRuntime({ endpoints: { model: container.url }, component }));
  const [fetcher, worker] = ['fetch-references', 'run-generation'];
  const lambda = keep(await startLambda({ functions: { [fetcher]: importJob(fetcher) }, ...signing }));
  const queues = { [worker]: { run: importJob(worker), maxConcurrency: 100, visibilityMs: 600_000 } };
  const sqs = keep(await startSqs({ queues, ...signing }));
  setLogSink((line) => void lines.push(JSON.parse(line)));
  const gateway = keep(
    await openGateway({
      ...engines,
      session: sessionSettings(engines.s3Url),
      sageMakerRuntimeUrl: runtime.url,
      modelComponentName: component.name,
      referenceFetcherUrl: lambda.url + invocationPath(fetcher),
      generationQueueUrl: sqs.urlOf(worker),
      deadlineSeconds: 9,
      asyncDeadlineSeconds: 9,
    }),
  );
  return { ...gateway, service, sqs, caller: callersOf(service, service.table) };
});

type Wish = Partial<ApiCall> & {
  license?: Parameters<typeof grant>[1];
  hangsUp?: boolean;
  cancels?: boolean;
};

/** Resolves once no asynchronous request is left. */
const allRun = () => until('the queue is empty', () => fixture.sqs.messages() === 0);

/** One request, of a license of its own. @returns the status, none where the caller did not wait for it */
async function ask({ license, hangsUp = false, cancels = false, ...call }: Wish): Promise<number[]> {
  const key = call.key ?? (await grant(fixture.service.table, license)).key;
  const { aurora } = fixture.service.ready.identities;
  const body =
    typeof call.body === 'string' ? call.body : { ...small, identityId: aurora, ...(call.body as object) };
  const asked = callApi(fixture.baseUrl, {
    path: '/generate',
    ...call,
    key,
    body,
    ...(hangsUp && { signal: leaving.signal }),
  });
  if (cancels) await cancelOnly(key);
  if (!hangsUp) return [(await asked).status];
  await expect(asked).rejects.toThrow();
  return [];
}

let cancellations = 0;

/** Cancels a key's one request once the model works on it. */
async function cancelOnly(key: string): Promise<void> {
  const isCancelled = async () => {
    const { body } = await callApi(fixture.baseUrl, {
      method: 'GET',
      path: '/generate',
      key,
      body: undefined,
    });
    const [{ id, status } = {} as any] = body.generations;
    if (status !== 'PROCESSING') return false;
    const cancel: ApiCall = { method: 'POST', path: `/generate/${id}/cancel`, key };
    const { status: answered } = await callApi(fixture.baseUrl, cancel);
    cancellations += Number(answered === 200);
    return answered === 200;
  };
  await until('it is cancelled', isCancelled, 20_000, 500);
}

const agent = (name: string, args: object = {}): Wish => {
  const call = { method: 'tools/call', params: { name, arguments: args } };
  return { path: '/mcp', body: JSON.stringify(messageOf(call)), headers: headersOf(call) };
};
const events = { accept: 'text/event-stream' };
const later = { prefer: 'respond-async' };

/** A file of which only the head is a picture's. */
async function withFile(headers: Record<string, string> = {}): Promise<Wish> {
  const { key } = await grant(fixture.service.table);
  const { body: upload } = await callApi(fixture.baseUrl, { path: '/uploads', key, body: {} });
  await sendFile(upload, await samplePhoto());
  return { key, headers, body: { prompt: 'unreadable', referenceImages: [{ uploadId: upload.uploadId }] } };
}

const ember = () => ({ identityId: fixture.service.ready.identities.ember });
const link = { referenceImages: [{ url: 'https://127.0.0.1/a.png' }] };
const openAi = {
  path: '/openai/v1/images/generations',
  body: JSON.stringify({ model: 'gpt-image-1', prompt: 'busy' }),
};
const painting = (prompt: string) =>
  agent('generate', { ...small, identityId: fixture.service.ready.identities.aurora, prompt });

type Kinds = Record<string, () => Wish | Promise<Wish>>;
/** While the model is awake, one group after the other: a machine that is busy must not be what ends a request. */
const awake: Kinds[] = [
  {
    'a hang-up': () => ({ body: { prompt: 'left' }, hangsUp: true }),
    'a hang-up on events': () => ({ body: { prompt: 'left' }, headers: events, hangsUp: true }),
    'a hang-up on a tool': () => ({ ...painting('left'), hangsUp: true }),
    'a file that the model can not read, asynchronously': () => withFile(later),
  },
  {
    'a cancellation': () => ({ body: { prompt: 'cancelled' }, cancels: true }),
    'one of an asynchronous request': () => ({
      body: { prompt: 'cancelled' },
      headers: later,
      cancels: true,
    }),
  },
  {
    'more than is done by the deadline': () => ({ body: { prompt: 'endless' } }),
    'the same, as events': () => ({ body: { prompt: 'endless' }, headers: events }),
    'a place in line until the deadline': () => ({ body: { prompt: 'in line' } }),
    'the same, asynchronously': () => ({ body: { prompt: 'in line' }, headers: later }),
    'more than the model can do, asynchronously': () => ({ body: { prompt: 'busy' }, headers: later }),
  },
  {
    'a file that the model can not read': withFile,
    'the same as events': () => withFile(events),
    'more than the model can do': () => ({ body: { prompt: 'busy' } }),
    'the same in OpenAI’s format': () => openAi,
    'the same by a tool': () => painting('busy'),
    'a key that was never made': () => ({ key: newApiKey() }),
    'a license that has ended': () => ({ license: { status: 'ended' } }),
    'no credits': () => ({ license: { creditsLimit: 0 } }),
    'an identity without a model': () => ({ body: ember() }),
    'the same identity, by a tool': () => agent('quote', { ...small, ...ember() }),
    'an unknown tool': () => agent('paint'),
    'no message': () => ({ path: '/mcp', body: '{"jsonrpc":', headers: headersOf({ method: 'ping' }) }),
    'a link to this machine': () => ({ body: link }),
  },
];
const asleep: Kinds = {
  'a call of a model that sleeps': () => ({}),
  'an asynchronous one, until its deadline': () => ({ headers: later }),
  'one in OpenAI’s format': () => openAi,
  'one by a tool': () => painting('asleep'),
};

const each = async (kinds: Kinds) => {
  const wishes = Object.values(kinds).flatMap((wish) => Array.from({ length: times }, wish));
  return (await Promise.all(wishes.map(async (wish) => ask(await wish)))).flat();
};

const ringingOf = (name: 'everything' | 'atZero', aws: CountedByAws) =>
  [...monitored(name).alarms].flatMap(([id, alarm]) =>
    rings(alarm, embeddedValues(lines), aws) ? [id] : [],
  );

test.each([
  ['hangs and says that all wait', 'in line', ['generation-none']],
  ['is lost', 'lost', ['service-unavailable', 'generation-none']],
])('a model that %s is heard of', async (_what, prompt, ringing) => {
  lines.length = 0;
  // One more would open the circuit breaker.
  await Promise.all(Array.from({ length: 4 }, () => ask({ body: { prompt } })));
  expect(ringingOf('everything', { 'AWS/ApiGateway Count': 4 })).toEqual(ringing);
});

test('300 hostile requests of 32 kinds start no alarm but those that tell of load, and no fault is counted', async () => {
  lines.length = 0;
  const statuses: number[] = [];
  for (const kinds of awake) {
    statuses.push(...(await each(kinds)));
    // Also of those who did not wait.
    await Promise.all([fixture.idle(), allRun()]);
  }
  for (const some of Object.values(hostileRequests))
    for (const { way, request } of some.slice(0, times))
      statuses.push((await send(fixture, way, request)).status);
  const spammer = await grant(fixture.service.table);
  statuses.push(
    ...(await Promise.all(Array.from({ length: 30 }, () => ask({ key: spammer.key, body: ember() })))).flat(),
  );
  const count = (name: string) => embeddedValues(lines).get(name)?.length ?? 0;
  clockMs = 1e6;
  statuses.push(...(await each(asleep)));
  await allRun();

  const own = embeddedValues(lines);
  const sum = (name: string) => own.get(name)?.reduce((all, one) => all + one, 0) ?? 0;
  const faults = statuses.filter((status) => status >= 500).length;
  console.log(
    `${statuses.length} answers, ${faults} of 5xx; refused: ${[...own]
      .filter(([name]) => name.startsWith('Refusals'))
      .map(([name, values]) => `${values.length} ${name.slice(9)}`)
      .join(', ')}`,
  );
  expect([...own.keys()].filter((name) => name.startsWith('Errors'))).toEqual([]);
  expect([statuses.length >= 300, faults > 50, count('PaintTime') >= times]).toEqual([true, true, true]);
  expect(cancellations).toBe(2 * times);
  expect(lines.filter(({ level }) => level === 'error')).toEqual([]);
  // No run crashed, or its line would be missing.
  expect(lines.filter(({ route }) => route === 'run-generation').length).toBeGreaterThanOrEqual(
    statuses.filter((status) => status === 202).length,
  );
  expect(faults).toBe(sum('RefusedWith5xx'));
  expect(count('CreditsReserved')).toBe(sum('RefusedRuns') + count('PaintTime') + 2 * times);
  const aws = {
    'AWS/ApiGateway Count': statuses.length,
    'AWS/ApiGateway 5XXError': faults,
    'AWS/SageMaker NoCapacityInvocationFailures': callsAtZero,
  };
  const ringing = (name: 'everything' | 'atZero') => ringingOf(name, aws);
  // By purpose: the model is asked for more than it can do, or sleeps for so long.
  expect(ringing('everything')).toEqual(['service-busy']);
  expect(ringing('atZero')).toEqual(['model-not-awake']);
});
