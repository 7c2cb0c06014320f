import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { helloBundle, naiveBundle, type Bundle } from '../bundles.ts';
import { stopSignal, temporaryFolder } from '../children.ts';
import { startStub } from '../overhead/servers.ts';
import { functionEnvironment, generationBody, type Caller, type StubWorld } from '../overhead/stub-world.ts';
import { medians } from '../statistics.ts';

type FirstCall = Record<'importMs' | 'callMs', number>;

/** Of one bundle: medians of fresh processes. */
export type ColdFigures = Omit<Bundle, 'file'> & FirstCall;

export interface ColdStart {
  processes: number;
  deployed: ColdFigures;
  naive: ColdFigures;
  hello: ColdFigures;
}

export interface ColdInput {
  world: StubWorld;
  caller: Caller;
  bundle: Bundle;
  quick: boolean;
  say(line: string): void;
}

const run = promisify(execFile);
const program = fileURLToPath(new URL('first-call.js', import.meta.url));

/** The deployed bundle, the naive one and hello world in turn, process after process. */
export async function measureColdStart({ world, caller, bundle, quick, say }: ColdInput): Promise<ColdStart> {
  const bundles = [bundle, await naiveBundle(), await helloBundle()];
  const eventFile = join(temporaryFolder(), 'event.json');
  writeFileSync(eventFile, JSON.stringify(generationEvent(caller)));
  const stub = await startStub(world);
  const env = { ...functionEnvironment(stub.url), PATH: process.env.PATH ?? '' };
  const processes = quick ? 2 : 20;
  try {
    const calls = bundles.map((): FirstCall[] => []);
    for (let i = 1; i <= processes; i++) {
      say(`cold start: process ${i} of ${processes}`);
      for (const [k, { file }] of bundles.entries()) calls[k]!.push(await firstCall(file, eventFile, env));
    }
    const [deployed, naive, hello] = bundles.map(({ what, bytes, gzipBytes }, k) => ({
      what,
      bytes,
      gzipBytes,
      ...medians(calls[k]!),
    }));
    return { processes, deployed: deployed!, naive: naive!, hello: hello! };
  } finally {
    await stub.child.end();
  }
}

async function firstCall(file: string, eventFile: string, env: Record<string, string>): Promise<FirstCall> {
  const options = { env, timeout: 120_000, signal: stopSignal, killSignal: 'SIGKILL' } as const;
  const { stdout } = await run(process.execPath, [program, file, eventFile], options);
  const { status, ...figures } = JSON.parse(stdout);
  if (status !== 200) throw new Error(`${file} answered its first call with ${status}.`);
  return figures;
}

/** As API Gateway makes it of POST /generate. */
function generationEvent(caller: Caller): object {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${caller.key}` };
  return {
    httpMethod: 'POST',
    path: '/generate',
    resource: '/generate',
    headers,
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    body: generationBody(caller),
    isBase64Encoded: false,
    requestContext: { requestId: '5f0c3c8e-6a55-4d6b-9b36-9a1b7f6a2c11' },
  };
}
