import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { handler as sweep } from '../../../functions/sweep.ts';
import { listen } from '../../../local/http/server.ts';
import { environmentVariables } from '../../../shared/base/config.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { startTable } from '../generations/table.ts';

const table = useFixture(async (keep) => keep(await startTable()));
let status: number | null = 200;
const asked: string[] = [];
let server: Awaited<ReturnType<typeof listen>>;

beforeAll(async () => {
  const answering = createServer((req, res) => {
    asked.push(req.url!);
    if (status !== null) res.writeHead(status).end('{}');
  });
  server = await listen(answering);
  Object.assign(process.env, {
    [environmentVariables.serviceName]: 'dashboard-test',
    [environmentVariables.tableName]: table.table.name,
    [environmentVariables.bucketName]: 'no-such-bucket',
    [environmentVariables.dashboardUrl]: `${server.url}/`,
  });
});
afterAll(() => setLogSink(console.log));

async function linesOfSweep(): Promise<any[]> {
  const lines: string[] = [];
  setLogSink((line) => void lines.push(line));
  await sweep();
  return lines.map((line) => JSON.parse(line));
}

test('the sweep counts a dashboard that answers with an error, hangs, or is not there, and does its work all the same', async () => {
  const [swept, ...none] = await linesOfSweep();
  expect(swept.message).toBe('sweep');
  expect(swept).not.toHaveProperty('DashboardFaults');
  expect(none).toEqual([]);
  expect(asked).toEqual(['/config.json']);
  for (const answered of [503, 404, null]) {
    status = answered;
    const [fault, counted] = await linesOfSweep();
    expect(fault).toMatchObject({ level: 'error', message: 'the dashboard does not answer' });
    if (answered !== null) expect(fault.status).toBe(answered);
    expect(counted).toMatchObject({ message: 'sweep', DashboardFaults: 1, failed: 0 });
  }
  await server.close();
  const [refused, counted] = await linesOfSweep();
  expect(refused.causes).not.toEqual([]);
  expect(counted.DashboardFaults).toBe(1);
});
