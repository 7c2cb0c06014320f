import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, release, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { cleanUpAtExit } from './children.ts';
import { deployedBundle, measureColdStart } from './cold.ts';
import { measureOverhead } from './overhead.ts';
import { sectionText, type Section } from './section.ts';
import { measureTableUse } from './table-use.ts';

const say = (line: string) => void process.stderr.write(`${line}\n`);

/** docs/performance.md says what each part measures. */
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'overhead,cold,dynamodb' },
    /** Few and short rounds: whether everything runs, not what it costs. */
    quick: { type: 'boolean', default: false },
  },
});

function machine(): Section {
  const commit = ['describe', '--always', '--abbrev=10', '--exclude=*', '--dirty=, with changes'];
  const rows = {
    'measured on': new Date().toISOString().slice(0, 10),
    commit: execFileSync('git', commit, { encoding: 'utf8' }).trim(),
    processor: `${cpus()[0]?.model.trim() ?? 'unknown'}, ${availableParallelism()} cores`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GB`,
    Linux: release(),
    'Node.js': process.versions.node,
  };
  return { title: 'Machine', headings: ['what', 'value'], rows: Object.entries(rows) };
}

async function measure(only: string[]): Promise<Section[]> {
  if (process.platform !== 'linux') throw new Error('it reads /proc, and runs on Linux only.');
  const sections = [machine()];
  say('counting what generations use of the table');
  const { section, fixture } = await measureTableUse();
  if (only.includes('overhead') || only.includes('cold')) {
    say('bundling the functions as a deployment does');
    const input = { fixture, bundle: deployedBundle(), quick: values.quick, say };
    if (only.includes('overhead')) sections.push(await measureOverhead(input));
    if (only.includes('cold')) sections.push(await measureColdStart(input));
  }
  if (only.includes('dynamodb')) sections.push(section);
  return sections;
}

cleanUpAtExit();
try {
  console.log((await measure(values.only.split(','))).map(sectionText).join('\n'));
} catch (error) {
  console.error(`The bench failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
