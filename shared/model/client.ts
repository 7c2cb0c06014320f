import {
  InvokeEndpointWithResponseStreamCommand,
  SageMakerRuntimeClient,
  type ResponseStream,
} from '@aws-sdk/client-sagemaker-runtime';
import { withoutUnusedMiddleware, cachedMiddleware } from '../base/aws-clients.ts';
import { modelEvent, type ModelEvent, type ModelProbe, type ModelRequest } from './contract.ts';
import { warmingRetrySeconds } from './breaker-states.ts';
import { systemClock } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import type { ModelState } from './health-contract.ts';
import { waitInWords } from '../base/words.ts';
import { modelBreaker, unavailable, type ModelBreakerOptions } from './breaker.ts';
import { findingOfError, findingOfEvent } from './findings.ts';

const maxLineChars = 64 * 1024;
const maxStreamBytes = 1024 * 1024;
const probeTimeoutMs = 3000;

const connections = {
  // Calls last minutes, so the SDK's 50 sockets would queue them.
  maxSockets: 1000,
  // A function that was frozen may hold connections whose other end is gone, and no call is sent twice.
  keepAlive: false,
};

export interface ColdStartRefusal {
  /** By an estimate. */
  secondsUntilReady: number;
  /** Whether this call began the cold start; false where that is not known. */
  hasBegunIt: boolean;
}

/** Takes notes of how long a cold start takes. A fault of the notes fails no request. */
export interface ColdStartNotes {
  /** A call found the model scaled to zero. */
  refused(): Promise<ColdStartRefusal>;
  /** Whether a call that finds it scaled to zero now would begin a cold start. */
  mayBegin(): Promise<boolean>;
  /** The seconds that are left, without another call; null where the model is not known to be starting. */
  secondsLeft(): Promise<number | null>;
  /** A call was answered. */
  answered(): void;
}

/** The endpoint's part that runs the model, where that scales to zero. */
export interface ScalingComponent {
  name: string;
  notes: ColdStartNotes;
}

export interface ModelServerOptions extends Partial<ModelBreakerOptions> {
  /** Null where the model never scales to zero. */
  component?: ScalingComponent | null;
}

export type ModelServer = ReturnType<typeof modelServer>;

/**
 * The GPU endpoint, called once for each generation: a second call would generate, and cost, a second time.
 * @param endpointName null where the service was deployed without one: nothing can be generated then.
 */
export function modelServer(
  endpointName: string | null,
  { clock = systemClock, onBreaker = () => {}, component = null }: ModelServerOptions = {},
) {
  const client = withoutUnusedMiddleware(
    new SageMakerRuntimeClient({
      ...cachedMiddleware,
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: 2000,
        // The caller's signal is the deadline.
        httpAgent: connections,
        httpsAgent: connections,
      },
    }),
  );

  async function* invoke(body: ModelRequest | ModelProbe, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    signal.throwIfAborted();
    if (endpointName === null) throw noEndpoint();
    const command = new InvokeEndpointWithResponseStreamCommand({
      EndpointName: endpointName,
      ...(component === null ? {} : { InferenceComponentName: component.name }),
      ContentType: 'application/json',
      Accept: 'application/x-ndjson',
      Body: Buffer.from(JSON.stringify(body)),
    });
    const answer = await client.send(command, { abortSignal: signal }).catch(async (error: unknown) => {
      signal.throwIfAborted();
      if (findingOfError(error) !== 'warming') throw refusal(error);
      const cause = new Error('model server: warming', { cause: error });
      const found = await component?.notes.refused();
      throw warming(cause, found?.secondsUntilReady, found?.hasBegunIt);
    });
    component?.notes.answered();
    yield* readEvents(answer.Body!, signal);
  }

  const ask = async () => {
    const events = invoke({ probe: true }, AbortSignal.timeout(probeTimeoutMs));
    const first = await events.next();
    await events.return(undefined);
    if (first.done === true) throw protocolFault('it said nothing');
    if (findingOfEvent(first.value) === 'failing') throw unavailable(first.value);
  };
  const stillWarming = async (cause: Error, probeInSeconds: number) =>
    warming(
      cause,
      component === null ? undefined : ((await component.notes.secondsLeft()) ?? probeInSeconds),
    );
  /** A probe must begin no cold start, because nobody would be counted for it. */
  const mayProbe = async () => component === null || !(await component.notes.mayBegin());
  const breaker = modelBreaker({ ask, mayProbe }, stillWarming, { clock, onBreaker });

  return {
    /**
     * Must be asked before credits are reserved for a request.
     * @param options.waits whether the request waits for a model that is starting, instead of being refused.
     * @param options.calls whether a request follows that calls the model; without one nothing is asked of it.
     * @returns SERVICE_UNAVAILABLE while the model is not to be called, null when it may be.
     */
    refusal: async (options: { waits?: boolean; calls?: boolean } = {}): Promise<ServiceError | null> =>
      endpointName === null ? noEndpoint() : breaker.refusal(options),

    /**
     * Runs one request and yields the container's events as they come.
     * @throws SERVICE_UNAVAILABLE when no container took it, GENERATION_FAILED when one answered what it must not,
     *   and the signal's reason once it is aborted, which also hangs up on the container.
     */
    generate: (request: ModelRequest, signal: AbortSignal) => breaker.watch(invoke(request, signal), signal),

    /**
     * The seconds until it is ready, by an estimate; null where it is not known to be starting.
     * @param looks whether the table is asked though this process never found it asleep
     */
    secondsUntilReady: async ({ looks = false } = {}): Promise<number | null> =>
      component !== null && (looks || breaker.isWarming()) ? component.notes.secondsLeft() : null,

    /** Whether a container answers. The call would begin the cold start of one that is scaled to zero. */
    probe: (): Promise<ModelState> =>
      ask().then(
        () => 'ready',
        (error: unknown) => (findingOfError(error) === 'warming' ? 'waking' : 'unavailable'),
      ),
  };
}

/** @param secondsUntilReady of a model that was scaled to zero; left out for one that never is. */
function warming(cause: Error, secondsUntilReady?: number, hasBegunIt = false): ServiceError {
  const sentence =
    secondsUntilReady === undefined
      ? 'The model is starting, which may take a few minutes. Try again shortly.'
      : `The model was asleep and is starting. Try again in ${waitInWords(secondsUntilReady)}.`;
  const retryAfterSeconds = secondsUntilReady ?? warmingRetrySeconds;
  const unpaid = hasBegunIt ? 'wake' : undefined;
  const noFault = secondsUntilReady !== undefined;
  return new ServiceError('SERVICE_UNAVAILABLE', sentence, { cause, retryAfterSeconds, unpaid, noFault });
}

/** Reads newline-delimited JSON from chunks that end anywhere. Unknown, oversized and malformed events are failures. */
async function* readEvents(
  stream: AsyncIterable<ResponseStream>,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let pending = '';
  let bytes = 0;
  for await (const part of untilAborted(stream, signal)) {
    const chunk = part.PayloadPart?.Bytes;
    if (chunk === undefined) throw protocolFault('the stream broke off', part);
    bytes += chunk.byteLength;
    if (bytes > maxStreamBytes) throw protocolFault('too much was answered');
    try {
      pending += decoder.decode(chunk, { stream: true });
    } catch (error) {
      throw protocolFault('not UTF-8', error);
    }
    const lines = pending.split('\n');
    pending = lines.pop()!;
    for (const line of lines) if (line.trim() !== '') yield parseEvent(line);
    if (pending.length > maxLineChars) throw protocolFault('an event is too long');
  }
  if (pending.trim() !== '') yield parseEvent(pending);
}

function parseEvent(line: string): ModelEvent {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw protocolFault('an event is not JSON', error);
  }
  const parsed = modelEvent.safeParse(value);
  if (!parsed.success) throw protocolFault('an event does not fit the contract', parsed.error);
  return parsed.data;
}

/** The SDK's abort signal ends with the answer's head, so a stream that hangs is left here. */
async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = stream[Symbol.asyncIterator]();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  aborted.promise.catch(() => {});
  signal.addEventListener('abort', onAbort, { once: true });
  let ended = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = iterator.next();
      next.catch(() => {});
      const { done, value } = await Promise.race([next, aborted.promise]).catch((error: unknown) => {
        signal.throwIfAborted();
        throw protocolFault('the stream broke off', error);
      });
      if (done === true) {
        ended = true;
        return;
      }
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    if (!ended) void iterator.return?.(undefined)?.catch(() => {});
  }
}

const modelFaults = new Set(['ModelError', 'ModelStreamError']);

function noEndpoint(): ServiceError {
  return refusal(new Error('this deployment has no model endpoint'));
}

/** The error for an endpoint that did not answer with a stream. */
function refusal(error: unknown): ServiceError {
  const name = error instanceof Error ? error.name : '';
  if (modelFaults.has(name)) return protocolFault('it stopped with an error', error);
  return unavailable(error);
}

function protocolFault(what: string, cause?: unknown): ServiceError {
  return new ServiceError('GENERATION_FAILED', 'The model did not answer as it should.', {
    cause: new Error(`model server: ${what}`, { cause }),
  });
}
