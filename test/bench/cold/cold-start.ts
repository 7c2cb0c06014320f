import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { environmentVariables as names } from '../../../shared/config.ts';
import { helloBundle, naiveBundles, type Built } from '../bundles.ts';
import { stopSignal, temporaryFolder } from '../children.ts';
import { startStub } from '../overhead/servers.ts';
import { functionEnvironment, type Caller, type StubWorld } from '../overhead/stub-world.ts';
import { median } from '../statistics.ts';
import { makeCpuGroup, type CpuGroup } from './cpu-quota.ts';
import { firstEvents } from './events.ts';

/** Of one bundle: medians of fresh processes. */
export interface ColdFigures {
  functionName: string;
  bytes: number;
  gzipBytes: number;
  importMs: number;
  callMs: number;
  /** Median call after the first. */
  warmMs: number;
  /** The most memory that the process had. */
  rssMb: number;
}

export interface MemoryFigures extends ColdFigures {
  memoryMb: number;
}

export interface ColdStart {
  processes: number;
  functions: ColdFigures[];
  naive: ColdFigures[];
  hello: ColdFigures;
  quotaProcesses: number;
  byMemory: MemoryFigures[];
  leftOut: string[];
}

export interface ColdInput {
  world: StubWorld;
  caller: Caller;
  bundles: Built[];
  quick: boolean;
  say(line: string): void;
}

const run = promisify(execFile);
const program = fileURLToPath(new URL('first-call.js', import.meta.url));
export const memoriesMb = [128, 256, 512];
const few = (bundles: Built[]) =>
  bundles.filter(({ functionName }) => ['create-generation', 'get-health'].includes(functionName));

/** Each function's deployed bundle, the naive one and hello world in turn, process after process. */
export async function measureColdStart(input: ColdInput): Promise<ColdStart> {
  const { quick, say } = input;
  const { bundles } = input;
  const naive = await naiveBundles();
  const hello = await helloBundle();
  const world = await openWorld(input);
  const processes = quick ? 2 : 20;
  try {
    const figures = new Map<Built, FirstCall[]>([...bundles, ...naive, hello].map((built) => [built, []]));
    for (let i = 1; i <= processes; i++) {
      say(`cold start: process ${i} of ${processes}`);
      for (const [built, calls] of figures) calls.push(await world.firstCall(built));
    }
    const of = (built: Built) => figuresOf(built, figures.get(built)!);
    const quotas = await measureQuotas(quick ? few(bundles) : bundles, world, quick, say);
    return { processes, functions: bundles.map(of), naive: naive.map(of), hello: of(hello), ...quotas };
  } finally {
    await world.close();
  }
}

async function measureQuotas(
  bundles: Built[],
  world: ColdWorld,
  quick: boolean,
  say: (line: string) => void,
): Promise<Pick<ColdStart, 'byMemory' | 'quotaProcesses' | 'leftOut'>> {
  const quotaProcesses = quick ? 1 : 5;
  const byMemory: MemoryFigures[] = [];
  for (const memoryMb of memoriesMb) {
    let group: CpuGroup;
    try {
      group = makeCpuGroup(memoryMb);
    } catch (error) {
      return { quotaProcesses, byMemory: [], leftOut: [(error as Error).message] };
    }
    try {
      for (const built of bundles) {
        say(`cold start: ${built.functionName} with the processor of ${memoryMb} MB`);
        const calls: FirstCall[] = [];
        for (let i = 0; i < quotaProcesses; i++) calls.push(await world.firstCall(built, group));
        byMemory.push({ memoryMb, ...figuresOf(built, calls) });
      }
    } finally {
      group.remove();
    }
  }
  return { quotaProcesses, byMemory, leftOut: [] };
}

interface FirstCall {
  importMs: number;
  callMs: number;
  warmMs: number[];
  rssMb: number;
}

interface ColdWorld {
  firstCall(built: Built, group?: CpuGroup): Promise<FirstCall>;
  close(): Promise<void>;
}

const calls = 8;

async function openWorld({ world, caller }: ColdInput): Promise<ColdWorld> {
  const folder = temporaryFolder();
  const worldFile = join(folder, 'world.json');
  writeFileSync(worldFile, JSON.stringify(world));
  const pricesFile = join(folder, 'prices.json');
  writeFileSync(pricesFile, JSON.stringify({ price_pro: { tier: 'pro', foundingCatalog: true } }));
  const eventFiles = new Map(
    Object.entries(firstEvents(caller)).map(([name, event]) => {
      const file = join(folder, `${name}.json`);
      writeFileSync(file, JSON.stringify(event));
      return [name, file];
    }),
  );
  const stub = await startStub(worldFile);
  const env = functionEnvironment(stub.url, {
    [names.billingPricesFile]: pricesFile,
    PATH: process.env.PATH ?? '',
  });
  return {
    async firstCall({ functionName, file }, group) {
      const args = [program, file, eventFiles.get(functionName)!, String(calls)];
      const options = { env, timeout: 120_000, signal: stopSignal, killSignal: 'SIGKILL' } as const;
      const { stdout } = await (group === undefined
        ? run(process.execPath, args, options)
        : run('sh', ['-c', `${group.prefix} "$@"`, 'sh', process.execPath, ...args], options));
      const { status, answer, ...figures } = JSON.parse(stdout);
      if (status === null ? answer.includes('"itemIdentifier"') : status >= 300) {
        throw new Error(`${functionName} answered its first call with ${status ?? answer}.`);
      }
      return figures;
    },
    close: () => stub.child.end(),
  };
}

function figuresOf({ functionName, bytes, gzipBytes }: Built, of: FirstCall[]): ColdFigures {
  return {
    functionName,
    bytes,
    gzipBytes,
    importMs: median(of.map(({ importMs }) => importMs)),
    callMs: median(of.map(({ callMs }) => callMs)),
    warmMs: median(of.flatMap(({ warmMs }) => warmMs)),
    rssMb: median(of.map(({ rssMb }) => rssMb)),
  };
}
