import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pythonPath } from '../support/python.ts';
import { wrongBooks } from './books.ts';
import { startFuzzedService, type FuzzedService } from './service.ts';

/** Empty where it is not installed. */
export const schemathesisPath =
  [join(pythonPath, 'schemathesis')].find((path) => pythonPath && existsSync(path)) ?? '';

const here = fileURLToPath(new URL('.', import.meta.url));

type Counts = Record<string, number>;

/** What the hooks count: see hooks.py. */
export interface FuzzSummary {
  cases: number;
  /** Answers that every check looked at. */
  judged: number;
  /** Of them, streams of events. */
  streams: number;
  /** Reference images that models were given. */
  references: number;
  /** By reason: answers that looked wrong and are right. */
  excused: Counts;
  /** By operation and kind. */
  failures: Counts;
  /** By operation: answers of each status and of each error code. */
  statuses: Record<string, Counts>;
  codes: Record<string, Counts>;
}

export interface FuzzResult extends FuzzSummary {
  passed: boolean;
  /** What a validator says of a document that is no OpenAPI 3.1; empty for one that is. */
  wrongDocument: string;
  /** A sentence for each license whose credits do not add up afterwards. */
  wrongBooks: string[];
  /** What schemathesis printed, round after round. */
  output: string;
}

export interface FuzzOptions {
  cases: number;
  seed: number;
  onRound?: (summary: FuzzSummary) => void;
}

/** Examples of one operation in one round, at most. */
const maxExamples = 250;
const operations = 13;

/**
 * Sends at least so many requests to a service of its own. The first round tries the boundaries of the document and
 * random requests, further ones are random with other seeds.
 */
export async function fuzz({ cases, seed, onRound }: FuzzOptions): Promise<FuzzResult> {
  const accounts = Math.min(160, Math.max(40, Math.ceil(cases / 100)));
  const fuzzed = await startFuzzedService(accounts, seed);
  const result: FuzzResult = {
    ...emptySummary(),
    passed: true,
    wrongDocument: '',
    wrongBooks: [],
    output: '',
  };
  try {
    result.wrongDocument = await validateDocument(fuzzed);
    for (let round = 0; result.cases < cases; round++) {
      const left = Math.ceil((cases - result.cases) / operations);
      const { summary, code, output } = await runSchemathesis(fuzzed, {
        seed: seed + round,
        examples: Math.max(20, Math.min(maxExamples, left)),
        phases: round === 0 ? 'examples,coverage,fuzzing,stateful' : 'fuzzing,stateful',
      });
      add(result, summary);
      result.passed &&= code === 0;
      result.output += output;
      onRound?.(result);
      if (summary.cases === 0) throw new Error(`schemathesis sent nothing:\n${output}`);
    }
    result.wrongBooks = await wrongBooks(fuzzed.table, fuzzed.licenseIds);
    result.passed &&= result.wrongBooks.length === 0 && result.wrongDocument === '';
  } finally {
    await fuzzed.close();
  }
  return result;
}

/** By the validator of the OpenAPI specification's own JSON Schemas, which comes with the others. */
async function validateDocument({ service, folder }: FuzzedService): Promise<string> {
  const { body } = await service.api({ path: '/openapi.json' });
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(body));
  const { status, stdout, stderr, error } = spawnSync(join(pythonPath, 'openapi-spec-validator'), [file], {
    encoding: 'utf8',
  });
  if (error) throw error;
  return status === 0 ? '' : `${stdout}${stderr}`;
}

interface Round {
  seed: number;
  examples: number;
  phases: string;
}

async function runSchemathesis(
  { service, worldFile, folder }: FuzzedService,
  { seed, examples, phases }: Round,
): Promise<{ summary: FuzzSummary; code: number | null; output: string }> {
  const { baseUrl } = service.ready;
  const summaryFile = join(folder, 'summary.json');
  const flags = ['--url', baseUrl, '--seed', String(seed), '--max-examples', String(examples)];
  const command = [
    '--config-file',
    join(here, 'schemathesis.toml'),
    'run',
    `${baseUrl}/openapi.json`,
    ...flags,
  ];
  const child = spawn(schemathesisPath, [...command, '--phases', phases, '--no-color'], {
    // Its own files stay there.
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(here, 'hooks.py'),
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_WORLD: worldFile,
      FUZZ_SUMMARY: summaryFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { summary: readSummary(summaryFile, output), code, output };
}

function readSummary(file: string, output: string): FuzzSummary {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as FuzzSummary;
  } catch (cause) {
    throw new Error(`schemathesis told nothing of its run:\n${output}`, { cause });
  }
}

function emptySummary(): FuzzSummary {
  return {
    cases: 0,
    judged: 0,
    streams: 0,
    references: 0,
    excused: {},
    failures: {},
    statuses: {},
    codes: {},
  };
}

function add(total: FuzzSummary, { statuses, codes, ...counts }: FuzzSummary): void {
  for (const name of ['cases', 'judged', 'streams', 'references'] as const) total[name] += counts[name];
  for (const name of ['excused', 'failures'] as const) addCounts(total[name], counts[name]);
  for (const [operation, of] of Object.entries(statuses)) addCounts((total.statuses[operation] ??= {}), of);
  for (const [operation, of] of Object.entries(codes)) addCounts((total.codes[operation] ??= {}), of);
}

function addCounts(total: Counts, more: Counts): void {
  for (const [name, count] of Object.entries(more)) total[name] = (total[name] ?? 0) + count;
}
