import { grouped } from '../../bin/common/markdown.ts';
import { startServer, startStub, temporaryFolder } from './children.ts';
import { functionEnvironment, generationBody, type StubFixture } from './fixture.ts';
import { useOfGroup } from './process-use.ts';
import { figure, type Section } from './section.ts';
import { medians, percentile } from './statistics.ts';

export interface BenchInput {
  fixture: StubFixture;
  /** The bundle of create-generation as it is deployed. */
  bundle: string;
  quick: boolean;
  say(line: string): void;
}

/** The function behind a bare HTTP server, started anew for each round, beside the stub that is called directly. */
export async function measureOverhead({ fixture, bundle, quick, say }: BenchInput): Promise<Section> {
  const stub = await startStub(fixture);
  const times = quick ? { rounds: 2, eachMs: 1500 } : { rounds: 7, eachMs: 8000 };
  const { key } = fixture.caller;
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  const body = generationBody(fixture.caller);
  /** What the figures are beside: the same client, and one call of the model. */
  const direct = { url: `${stub.url}/endpoints/model`, headers, body, problem: modelProblem };
  const measureRound = async (): Promise<Round> => {
    const server = await startServer({
      args: (port) => ['front.ts', port, bundle, '/generate'],
      env: functionEnvironment(stub.url),
      folder: temporaryFolder(),
    });
    try {
      const url = `${server.url}/generate`;
      return await measure({ url, headers, body, problem: generationProblem }, server.groupId, times.eachMs);
    } finally {
      await server.close();
    }
  };
  try {
    await runLoad(direct, 4, times.eachMs);
    const stubMs: number[] = [];
    const rounds: Round[] = [];
    for (let round = 1; round <= times.rounds; round++) {
      say(`overhead: round ${round} of ${times.rounds}`);
      stubMs.push(percentile((await runLoad(direct, 1, times.eachMs / 2)).latenciesMs, 0.5));
      rounds.push(await measureRound());
    }
    return overheadSection(rounds, percentile(stubMs, 0.5));
  } finally {
    await stub.close();
  }
}

type Round = Record<'p50Ms' | 'p99Ms' | 'cpuUs' | 'requestsPerSecond' | 'rssMb', number>;

async function measure(target: Target, groupId: number, eachMs: number): Promise<Round> {
  // Until the code is compiled and the connections are open.
  await runLoad(target, 16, eachMs);
  const alone = await runLoad(target, 1, eachMs);
  const before = useOfGroup(groupId).cpuUs;
  const busy = await runLoad(target, 16, eachMs);
  const { cpuUs, rssBytes } = useOfGroup(groupId);
  const requests = busy.latenciesMs.length;
  return {
    p50Ms: percentile(alone.latenciesMs, 0.5),
    p99Ms: percentile(alone.latenciesMs, 0.99),
    cpuUs: (cpuUs - before) / requests,
    requestsPerSecond: requests / busy.seconds,
    rssMb: rssBytes / 2 ** 20,
  };
}

function overheadSection(rounds: Round[], stubMs: number): Section {
  const { p50Ms, p99Ms, cpuUs, requestsPerSecond, rssMb } = medians(rounds);
  const all = rounds.map((round) => round.cpuUs);
  const spread = (Math.max(...all) - Math.min(...all)) / cpuUs;
  return {
    title: 'Overhead',
    headings: [
      'added p50, ms:',
      'added p99, ms:',
      'CPU, µs per request:',
      'requests per second:',
      'memory, MB:',
      'CPU, spread of rounds:',
    ],
    rows: [
      [
        ...[p50Ms - stubMs, p99Ms - stubMs].map(figure),
        ...[cpuUs, requestsPerSecond, rssMb].map(grouped),
        `${Math.round(spread * 100)}%`,
      ],
    ],
    note: `Medians of ${rounds.length} rounds. The stub called directly: p50 ${figure(stubMs)} ms.`,
  };
}

/** A request, and what its answer must be. */
interface Target {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** What is wrong with an answer; null for a right one. */
  problem(status: number, body: string): string | null;
}

/**
 * Sends requests over kept connections, each client one after another, for a time. Every answer is read and checked.
 * @throws at the first wrong answer: a figure of a server that refuses is of no use
 */
async function runLoad({ problem, url, ...request }: Target, clients: number, durationMs: number) {
  const latenciesMs: number[] = [];
  const beginMs = performance.now();
  const runClient = async () => {
    while (performance.now() - beginMs < durationMs) {
      const sentMs = performance.now();
      const response = await fetch(url, { method: 'POST', ...request });
      const body = await response.text();
      latenciesMs.push(performance.now() - sentMs);
      const wrong = problem(response.status, body);
      if (wrong !== null)
        throw new Error(`${url} answered ${response.status}, ${wrong}: ${body.slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: clients }, runClient));
  return { latenciesMs, seconds: (performance.now() - beginMs) / 1000 };
}

const modelProblem = (status: number) => (status === 200 ? null : 'not 200');

/** A generation that was stored and charged, with a link that is signed. */
export function generationProblem(status: number, body: string): string | null {
  if (status !== 200) return 'not 200';
  const { outputs, usage } = JSON.parse(body);
  if (usage?.creditsCharged !== 1) return 'without a charge';
  return /[?&]X-Amz-Signature=[0-9a-f]{64}/.test(outputs?.[0]) ? null : 'without a signed link';
}
