import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ModelRequest } from '../../shared/model/contract.ts';
import type { RunningServer } from '../../local/http/server.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { openFixture, keepService, type ServiceFixture } from '../support/fixture.ts';
import { until } from '../support/until.ts';
import { newAccount, type Account } from './fixture.ts';

const asked: ModelRequest[] = [];
let container: RunningServer;
let service: ServiceFixture;
let account: Account;
let closeAll: () => Promise<void>;

beforeAll(async () => {
  container = await startContainer(async (request, res) => {
    asked.push(request);
    emit(res, { event: 'started' });
    await deliver(request, res);
  });
  const opened = await openFixture((keep) => {
    keep(container);
    return keepService(keep, { args: ['--container', container.url] });
  });
  [service, closeAll] = [opened, opened.close];
  account = await newAccount({}, service);
});
afterAll(() => closeAll());

const traceId = (i: number) => `4bf92f3577b34da6a3ce929d0e0e47${String(i).padStart(2, '0')}`;
const traceparent = (i: number) => `00-${traceId(i)}-00f067aa0ba902b7-01`;
const logLines = () =>
  readFileSync(join(service.dataDir, 'service.log'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
const linesOf = (i: number) => logLines().filter((line) => line.traceId === traceId(i));

test.each<
  [way: string, i: number, send: (headers: Record<string, string>) => ReturnType<Account['generate']>]
>([
  ['an answer that is waited for', 10, (headers) => account.generate({}, headers)],
  ['an asynchronous request', 11, (headers) => account.generate({}, { ...headers, prefer: 'respond-async' })],
  ['the playground', 12, (headers) => account.play({}, headers)],
  [
    "OpenAI's format",
    13,
    (headers) =>
      account.byKey('/openai/v1/images/generations', {
        body: { model: 'aurora', prompt: 'x', size: '512x512' },
        headers,
      }),
  ],
])("a caller's trace is passed to the model server, the log and the answer: %s", async (_way, i, send) => {
  const { status, headers } = await send({ traceparent: traceparent(i) });
  expect([Math.floor(status / 100), headers.get('traceparent')]).toEqual([2, traceparent(i)]);
  await until('the model was asked', () => asked.some((request) => request.traceparent === traceparent(i)));
  await until('it is logged', () => linesOf(i).length === (i === 11 ? 2 : 1));
  for (const line of linesOf(i)) {
    expect(line.message).toBe('request');
    // Each dimension of a metric would be paid for by the trace.
    expect(JSON.stringify(line._aws)).not.toMatch(/trace/i);
  }
});

test('a refusal names its trace too; what is no traceparent, or two, is as if it were not there', async () => {
  const refused = await account.generate({ steps: 1 }, { traceparent: traceparent(20) });
  expect([refused.status, refused.headers.get('traceparent')]).toEqual([400, traceparent(20)]);
  await until('the refusal is logged', () => linesOf(20).length === 1);
  const before = asked.length;
  for (const header of [`${traceparent(21)}-x`, `${traceparent(21)}, ${traceparent(22)}`, 'x'.repeat(5000)]) {
    const { status, headers } = await account.generate({}, { traceparent: header });
    expect([status, headers.has('traceparent')]).toEqual([200, false]);
  }
  expect(asked.slice(before).map((request) => 'traceparent' in request)).toEqual([false, false, false]);
  expect([...linesOf(21), ...linesOf(22)]).toEqual([]);
});
