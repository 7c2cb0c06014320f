import { availableParallelism, cpus } from 'node:os';
import { Command } from 'commander';
import { runCommand } from '../common/command-line.ts';
import type { Bundle } from './bundles.ts';
import { writeDocument } from './document.ts';
import { grouped, markdownTable } from './tables.ts';

interface Flags {
  write?: boolean;
}

/** Builds every function as a deployment would and measures it. @returns the exit code */
export async function runBundles(args: string[]): Promise<number> {
  const command = new Command('costs bundles')
    .description(
      'Builds every function as a deployment would, and tells its size and how long its import takes.',
    )
    .option('--write', 'write the table into docs/costs.md');
  return runCommand(command, args, async () => {
    const { write } = command.opts<Flags>();
    const { buildBundles } = await import('./bundles.ts');
    const bundles = await buildBundles();
    if (write) writeDocument({ bundles: bundlesSection(bundles) });
    else process.stdout.write(`${bundlesSection(bundles)}\n`);
    return 0;
  });
}

function bundlesSection(bundles: Bundle[]): string {
  const table = markdownTable(
    ['function', 'bytes, minified:', 'bytes, gzip:', 'import, ms:'],
    bundles.map(({ functionName, bytes, gzipBytes, importMs }) => [
      functionName,
      grouped(bytes),
      grouped(gzipBytes),
      grouped(importMs),
    ]),
  );
  const machine = `${availableParallelism()} cores of ${cpus()[0]?.model.trim() ?? 'an unknown processor'}`;
  return `Import: median of ten fresh processes of Node.js ${process.versions.node} on ${machine}.\n\n${table}`;
}
