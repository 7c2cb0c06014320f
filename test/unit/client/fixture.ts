import { afterEach, beforeEach, expect, jest } from '@jest/globals';
import { createClient, type Client, type ClientOptions } from '../../../clients/typescript/src/index.ts';
import { openStream, streamOf } from '../../support/generation-run.ts';
import { scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';

export const apiKey = 'svc_live_0123456789abcdefghijABCDEFGHIJ0123456789';
export const baseUrl = 'https://api.test/api/v1';
export const body = { identityId: 'idn_1', prompt: 'a quiet bay' };

export const unreachable = new TypeError('fetch failed');
/** An answer that breaks off. */
export const broken =
  (init?: ResponseInit): Script =>
  () =>
    new Response(new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) }), init);
export const streamed =
  (text: string): Script =>
  () =>
    streamOf(text);

/** A stream that says this, and then nothing. */
export const silentAfter =
  (text: string) =>
  (signal: AbortSignal): Response => {
    const { response, write } = openStream(signal);
    write(text);
    return response;
  };

/** Time passes only where a test says so, waits have no chance in them, and no call leaves a timer. */
export function useFakeTimers(): void {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    jest.spyOn(Math, 'random').mockReturnValue(0);
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.restoreAllMocks();
    jest.useRealTimers();
  });
}

/** A client of a service that answers with these scripts, and what it has sent. */
export function clientOf(
  scripts: Script[],
  options: Partial<ClientOptions> = {},
): { client: Client; sent: Sent[] } {
  const { fetch, sent } = scriptedFetch(...scripts);
  return { client: createClient({ apiKey, baseUrl, fetch, ...options }), sent };
}

/** The result or the error, after as long as all retries take. */
export async function outcomeOf<T>(promise: Promise<T>): Promise<any> {
  const outcome = promise.catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(40 * 60_000);
  return outcome;
}

/** What was sent, and when. A fake timer of no time takes a millisecond. */
export const logOf = (sent: Sent[]): string[] =>
  sent.map(({ line, atSeconds }) => `${line.replace(baseUrl, '')} ${Number(atSeconds.toFixed(1))} s`);
