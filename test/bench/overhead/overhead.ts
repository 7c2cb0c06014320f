import type { Bundle } from '../bundles.ts';
import { readTree } from '../process-tree.ts';
import { medians, percentile } from '../statistics.ts';
import { runLoad, type Target } from './load.ts';
import { liteLlmServer, openAiTarget, ourServer, portkeyServer, startStub, type Server } from './servers.ts';
import type { Caller, StubWorld } from './stub-world.ts';

/** Of one server: medians of its rounds. */
export interface ServerFigures {
  name: string;
  /** At one request at a time, less the median of the stub called directly. */
  addedP50Ms: number;
  addedP99Ms: number;
  /** Of all processes of the server, with 16 requests at a time. */
  cpuUsPerRequest: number;
  requestsPerSecond: number;
  rssMb: number;
  /** Lowest and highest CPU of the rounds, as a share of the median. */
  cpuSpread: number;
}

export interface Overhead {
  rounds: number;
  stubP50Ms: number;
  servers: ServerFigures[];
  /** Sentences about what could not be measured. */
  leftOut: string[];
}

export interface OverheadInput {
  world: StubWorld;
  caller: Caller;
  /** The bundle of create-generation as it is deployed. */
  bundle: Bundle;
  quick: boolean;
  say(line: string): void;
}

/** Rounds in turn, ABC ABC ABC, so that a machine that grows slower does so for all of them. */
export async function measureOverhead({
  world,
  caller,
  bundle,
  quick,
  say,
}: OverheadInput): Promise<Overhead> {
  const stub = await startStub(world);
  const leftOut: string[] = [];
  try {
    const servers: Server[] = [ourServer(stub.url, bundle.file, caller)];
    for (const peer of [portkeyServer, liteLlmServer]) {
      try {
        servers.push(await peer(stub.url));
      } catch (error) {
        leftOut.push((error as Error).message);
      }
    }
    const times = quick ? { rounds: 2, eachMs: 1500 } : { rounds: 7, eachMs: 8000 };
    // What every server's figures are beside: the same client, and one call of the model.
    const direct = openAiTarget(stub.url);
    await runLoad(direct, 4, times.eachMs);
    const stubMs: number[] = [];
    const rounds = new Map<string, Round[]>(servers.map(({ name }) => [name, []]));
    for (let round = 1; round <= times.rounds; round++) {
      stubMs.push(percentile((await runLoad(direct, 1, times.eachMs / 2)).latenciesMs, 0.5));
      for (const server of servers) {
        say(`overhead: round ${round} of ${times.rounds}, ${server.name}`);
        rounds.get(server.name)!.push(await measureServer(server, times.eachMs));
      }
    }
    const stubP50Ms = percentile(stubMs, 0.5);
    const figures = servers.map(({ name }) => figuresOf(name, rounds.get(name)!, stubP50Ms));
    return { rounds: times.rounds, stubP50Ms, servers: figures, leftOut };
  } finally {
    await stub.child.end();
  }
}

type Round = Record<'p50Ms' | 'p99Ms' | 'cpuUsPerRequest' | 'requestsPerSecond' | 'rssMb', number>;

async function measureServer(server: Server, eachMs: number): Promise<Round> {
  const { child, target } = await server.start();
  try {
    await warmUp(target, eachMs);
    const alone = await runLoad(target, 1, eachMs);
    const before = readTree(child.pid).cpuUs;
    const busy = await runLoad(target, 16, eachMs);
    const { cpuUs, rssBytes } = readTree(child.pid);
    const requests = busy.latenciesMs.length;
    return {
      p50Ms: percentile(alone.latenciesMs, 0.5),
      p99Ms: percentile(alone.latenciesMs, 0.99),
      cpuUsPerRequest: (cpuUs - before) / requests,
      requestsPerSecond: requests / busy.seconds,
      rssMb: rssBytes / 2 ** 20,
    };
  } finally {
    await child.end();
  }
}

/** Until the code is compiled and the connections are open. */
async function warmUp(target: Target, eachMs: number): Promise<void> {
  await runLoad(target, 1, eachMs / 4);
  await runLoad(target, 16, eachMs);
}

function figuresOf(name: string, rounds: Round[], stubP50Ms: number): ServerFigures {
  const { p50Ms, p99Ms, ...rest } = medians(rounds);
  const cpu = rounds.map(({ cpuUsPerRequest }) => cpuUsPerRequest);
  return {
    name,
    addedP50Ms: p50Ms - stubP50Ms,
    addedP99Ms: p99Ms - stubP50Ms,
    ...rest,
    cpuSpread: (Math.max(...cpu) - Math.min(...cpu)) / rest.cpuUsPerRequest,
  };
}
