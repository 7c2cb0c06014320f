import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { cleanUp, cleanUpOnSignals } from './children.ts';
import { readMachine, type Results } from './results.ts';

const parts = ['overhead', 'cold', 'dynamodb', 'cost'] as const;
type Part = (typeof parts)[number];

const usage = `npm run bench -- [options]

  --only PARTS   of ${parts.join(', ')}; several with commas (default: all)
  --quick        few and short rounds: whether everything runs, not what it costs
  --write        puts the tables into docs/performance.md

Linux only. Nothing else should run on the machine. Portkey and LiteLLM are installed on the first run, from npm and
PyPI, into ~/.cache/image-generation-service/bench. It takes about half an hour.`;

const say = (line: string) => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const options = {
    only: { type: 'string', default: parts.join(',') },
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  const only = values.only.split(',') as Part[];
  const problem = problemOf(only, values);
  if (values.help || problem !== null) {
    (problem === null ? console.log : console.error)(problem === null ? usage : `${problem}\n\n${usage}`);
    return problem === null ? 0 : 2;
  }
  const { sectionsOf, reportText } = await import('./report.ts');
  const sections = sectionsOf(await measure(only, values.quick));
  console.log(reportText(sections));
  if (values.write) await (await import('./document.ts')).writeDocument(sections);
  return 0;
}

function problemOf(only: Part[], { quick, write }: { quick: boolean; write: boolean }): string | null {
  const unknown = only.find((part) => !parts.includes(part));
  if (unknown !== undefined) return `There is no part "${unknown}".`;
  if (process.platform !== 'linux') return 'The bench reads /proc: it runs on Linux only.';
  if (write && quick) return '--write does not take figures of --quick: they tell nothing.';
  if (write && only.length < parts.length) return '--write needs all parts: the document tells of one run.';
  return null;
}

async function measure(only: Part[], quick: boolean): Promise<Results> {
  const results: Results = { machine: readMachine(new Date()) };
  if (only.includes('overhead') || only.includes('cold')) {
    const { makeStubWorld } = await import('./overhead/stub-world.ts');
    const { deployedBundle } = await import('./bundles.ts');
    say('bundling the functions as a deployment does');
    const bundle = deployedBundle();
    const shared = { ...(await makeStubWorld()), bundle, quick, say };
    if (only.includes('overhead')) {
      const { measureOverhead } = await import('./overhead/overhead.ts');
      results.overhead = await measureOverhead(shared);
    }
    if (only.includes('cold')) {
      const { measureColdStart } = await import('./cold/cold-start.ts');
      results.cold = await measureColdStart(shared);
    }
  }
  if (only.includes('dynamodb')) {
    say('counting what generations use of the table');
    const program = fileURLToPath(new URL('table-use.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program]);
    results.dynamodb = JSON.parse(stdout);
  }
  if (only.includes('cost')) {
    say('computing the cost');
    const { measureCost } = await import('./cost.ts');
    results.cost = measureCost();
  }
  return results;
}

cleanUpOnSignals();
try {
  process.exitCode = await main();
} catch (error) {
  console.error(`The bench failed: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  cleanUp();
}
