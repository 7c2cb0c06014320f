import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { clientsPython, modelServerPython, missingTools } from './tools.ts';

const usage = `npm run test:long -- [options]

  --only NAME   runs this step only; may be given several times
  --full        plays all 1,000 simulations, sends 2,000 fuzzed requests and tries properties ten times as often
  --list        prints the steps
  --help        prints this

What is long by nature: the browser, judges written in Python, the model server, fuzzing, the simulation.
\`bash test/long/install.sh\` installs what it needs beside the packages.`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    full: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

interface Step {
  name: string;
  command: string[];
}

const npmRun = (script: string, ...args: string[]) => ['npm', 'run', '--silent', script, '--', ...args];

/** The longest first, so that no core is idle at the end. */
const steps: Step[] = [
  { name: 'model-server', command: ['bash', 'inference/tests/run.sh', modelServerPython] },
  // Two of its files do little but wait for a minute to pass.
  { name: 'long', command: npmRun('jest', '--selectProjects', 'long', '--maxWorkers', '2') },
  { name: 'browser', command: npmRun('jest', '--selectProjects', 'browser', '--maxWorkers', '1') },
  // Apart from its other tests, or these two one after the other would take longer than all the rest.
  { name: 'model-server-contract', command: ['bash', 'inference/tests/contract.sh', modelServerPython] },
  { name: 'clients', command: ['bash', 'clients/python/tests/run.sh', clientsPython] },
  { name: 'client-faults', command: npmRun('client-faults', '--calls', values.full ? '1000' : '100') },
  { name: 'abuse', command: npmRun('jest', '--selectProjects', 'abuse', '--verbose') },
  { name: 'emulated', command: npmRun('jest', '--selectProjects', 'emulated') },
  { name: 'contract', command: npmRun('jest', '--selectProjects', 'model-contract') },
  { name: 'faults', command: npmRun('faults', '--seeds', values.full ? '1000' : '200', '--workers', '1') },
  { name: 'mutants', command: npmRun('faults', '--mutants', '--workers', '1') },
  { name: 'fuzz', command: npmRun('fuzz', '--cases', values.full ? '2000' : '400', '--seed', '1') },
  // Whether it runs.
  { name: 'bench', command: npmRun('bench', '--quick') },
  // What `npm test` tries seldom (test/support/runs.ts).
  ...(values.full
    ? [{ name: 'properties', command: npmRun('jest', '--selectProjects', 'unit', 'engine', 'infra') }]
    : []),
];

if (values.help) console.log(usage);
else if (values.list)
  console.log(steps.map(({ name, command }) => `${name}: ${command.join(' ')}`).join('\n'));
else process.exitCode = await runAll(chosen());

function chosen(): Step[] {
  const { only } = values;
  const unknown = only?.find((name) => !steps.some((step) => step.name === name));
  if (unknown !== undefined) throw new Error(`There is no step ${unknown}: see npm run test:long -- --list.`);
  return only === undefined ? steps : steps.filter(({ name }) => only.includes(name));
}

/** One step more than there are cores, since browsers and clocks are waited for. @returns the exit code */
async function runAll(waiting: Step[]): Promise<number> {
  if (missingTools.length > 0) {
    console.error(`Missing: ${missingTools.join(', ')}. "bash test/long/install.sh" installs them.`);
    return 1;
  }
  const startedMs = Date.now();
  const next = [...waiting];
  const failed: Outcome[] = [];
  const runNext = async (): Promise<void> => {
    for (let step = next.shift(); step !== undefined; step = next.shift()) {
      const outcome = await run(step);
      if (outcome.passed) console.log(outcome.report);
      else failed.push(outcome);
    }
  };
  await Promise.all(Array.from({ length: Math.min(4, availableParallelism() + 1) }, runNext));
  // Last, because a reader begins at the end.
  for (const { report } of failed) console.log(report);
  for (const { name, report } of failed) console.log([`\n${name} failed:`, ...failuresIn(report)].join('\n'));
  const verdict = failed.length === 0 ? 'All passed' : `Failed: ${failed.map(({ name }) => name).join(', ')}`;
  console.log(`\n${verdict}, ${secondsSince(startedMs)} s.`);
  return failed.length === 0 ? 0 : 1;
}

interface Outcome {
  name: string;
  passed: boolean;
  /** How it ended, and all that it printed: kept until then, so that steps side by side don't mix their lines. */
  report: string;
}

async function run({ name, command }: Step): Promise<Outcome> {
  const startedMs = Date.now();
  console.log(`${name}: ${command.join(' ')}`);
  // Python keeps what it compiled: without that, each of its many programs takes some seconds longer.
  const { PYTHONDONTWRITEBYTECODE: _, ...others } = process.env;
  const env = { ...others, ...(values.full && { MANY_RUNS: 'yes' }) };
  const child = spawn(command[0]!, command.slice(1), { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const ended = `${name} ${code === 0 ? 'passed' : `failed with exit code ${code}`} after ${secondsSince(startedMs)} s`;
  if (code !== 0) console.log(`${ended}: see the end.`);
  return { name, passed: code === 0, report: `\n──── ${ended}\n${output}` };
}

/** The lines of Jest's and pytest's reports that name what failed, for whoever sees only the end of a log. */
function failuresIn(report: string): string[] {
  const lines = report.split('\n').filter((line) => /^(\s+● |FAIL(ED)? |ERROR )/.test(line));
  return [...new Set(lines)].slice(0, 50);
}

function secondsSince(startedMs: number): number {
  return Math.round((Date.now() - startedMs) / 1000);
}
