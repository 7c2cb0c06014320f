import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { invoke } from '../../local/gateway/lambda-host.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { median } from '../bench/statistics.ts';
import { proxyEvent } from '../support/deployed-calls.ts';
import { grant } from '../support/grants.ts';
import { startRecordedGateway, type RecordedGateway } from '../support/recorded-gateway.ts';
import { small } from '../support/requests.ts';
import { useService } from '../support/use-service.ts';

const service = useService();
let recorded: RecordedGateway;
beforeAll(async () => void (recorded = await startRecordedGateway(service.dataDir)));
afterAll(() => recorded.close());

const mebibyte = 1024 * 1024;
const filled = (piece: string) => piece.repeat(Math.floor((mebibyte - 64) / piece.length));
const numbered = (write: (i: number) => string, count: number) =>
  Array.from({ length: count }, (_, i) => write(i)).join();

interface Input {
  body: string;
  headers?: Record<string, string>;
  functionName?: string;
}

/** Whatever costs most to read, each about as large as a body may be. */
const inputs: Record<string, Input> = {
  'a small request': { body: JSON.stringify(small) },
  'JSON nested': { body: filled('{"a":[') },
  'JSON wide': { body: `{${numbered((i) => `"m${i}":${i}`, 60_000)}}` },
  'JSON with a long number': { body: `{"seed":1${filled('0')}}` },
  'JSON with 10,000 duplicate members': { body: `{${numbered(() => '"prompt":"x"', 10_000)}}` },
  'JSON with one long text': { body: `{"prompt":"${filled('\\ud83d\\ude00')}"}` },
  gzip: { body: gzipSync(filled('x')).toString('latin1'), headers: { 'content-encoding': 'gzip' } },
  multipart: {
    body: filled('--b\r\ncontent-disposition: form-data; name="x"\r\n\r\nx\r\n'),
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  },
  '8 kB of headers': {
    body: JSON.stringify(small),
    headers: { 'idempotency-key': 'k'.repeat(4000), prefer: `${'a;b=c,'.repeat(650)}respond-async` },
  },
  'a batch of MCP messages': {
    body: `[${filled('{"jsonrpc":"2.0","id":1,"method":"tools/list"},')}{}]`,
    functionName: 'answer-agent',
  },
};

async function call(input: Input, key: string | undefined) {
  const { functionName = 'create-generation', headers, body } = input;
  const { handler } = await import(`../../functions/${functionName}.ts`);
  const event: any = {
    ...proxyEvent(functionName, { ...(headers && { headers }), ...(key && { key }) }),
    body,
  };
  const callsBefore = recorded.calls.length;
  const before = process.cpuUsage();
  let run: Promise<unknown> = Promise.resolve();
  const { statusCode } = await invoke(handler, event, 60_000, (running) => (run = running));
  await run;
  const { user, system } = process.cpuUsage(before);
  return { status: statusCode, cpuMs: (user + system) / 1000, calls: recorded.calls.slice(callsBefore) };
}

test('no input makes a stranger cost more than a small one: no body is read, and two items are, in one request', async () => {
  const revoked = await grant(service.table, { key: { revokedAtMs: 1 } });
  const strangers = { 'no key': undefined, 'an unknown key': newApiKey(), 'a revoked key': revoked.key };
  const rows: string[] = [];
  for (const [name, input] of Object.entries(inputs)) {
    const cells: string[] = [];
    for (const key of Object.values(strangers)) {
      const parse = jest.spyOn(JSON, 'parse');
      const { status, calls } = await call(input, key);
      expect(parse.mock.calls.filter(([text]) => text === input.body)).toEqual([]);
      parse.mockRestore();
      expect([name, status, calls.length]).toEqual([name, 401, key === undefined ? 0 : 1]);
      expect(calls.flatMap(({ keys }) => keys)).toHaveLength(key === undefined ? 0 : 2);
      const runs = [];
      for (let i = 0; i < 15; i++) runs.push((await call(input, key)).cpuMs);
      cells.push(median(runs).toFixed(1));
    }
    const { key } = await grant(service.table);
    const runs = [];
    for (let i = 0; i < 5; i++) runs.push(await call(input, key));
    const reads = runs[4]!.calls.filter(({ operation }) => operation.includes('Get'));
    cells.push(
      `${median(runs.map(({ cpuMs }) => cpuMs)).toFixed(1)} (${runs[4]!.status}, ${reads.flatMap(({ keys }) => keys).length} items)`,
    );
    rows.push(`| ${name} | ${cells.join(' | ')} |`);
  }
  console.log(
    `| body | ${Object.keys(strangers).join(' | ')} | a good key |\n| --- | ---: | ---: | ---: | ---: |\n${rows.join('\n')}`,
  );
});
