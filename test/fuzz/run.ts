import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fuzz, schemathesisPath, type FuzzSummary } from './fuzz.ts';

const usage = `npm run fuzz -- [options]

  --cases N     how many requests to send at least (default 2000)
  --seed N      what they are made from: with the same one they begin alike (default: any)
  --log FILE    write all that schemathesis said to this file`;

async function main(): Promise<number> {
  const options = {
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) return print(usage);
  if (![values.cases, values.seed].every((text) => /^\d{1,9}$/.test(text))) {
    return print('--cases and --seed must be whole numbers.', 1);
  }
  if (schemathesisPath === '')
    return print('Schemathesis is missing: test/fuzz/README.md says how to install it.', 1);
  const startedMs = Date.now();
  const { passed, output, wrongDocument, wrongBooks, ...summary } = await fuzz({
    cases: Number(values.cases),
    seed: Number(values.seed),
    onRound: ({ cases }) => print(`  ${cases} cases after ${secondsSince(startedMs)} s`),
  });
  if (values.log !== undefined) writeFileSync(values.log, output);
  if (!passed) print(output);
  print(describe(summary));
  print(`\nThe document: ${wrongDocument || 'valid OpenAPI 3.1'}`);
  print(`Books that are wrong: ${wrongBooks.join(' ') || 'none'}`);
  const verdict = passed ? 'Nothing was found' : 'Failures were found: they are described above';
  return print(`\n${verdict}, seed ${values.seed}, ${secondsSince(startedMs)} s.`, passed ? 0 : 1);
}

function describe({ excused, failures, statuses, codes, ...counted }: FuzzSummary): string {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ') || 'none';
  const lines = Object.keys(statuses)
    .sort()
    .map((operation) => `  ${operation}: ${list(statuses[operation]!)}\n    ${list(codes[operation] ?? {})}`);
  return [
    `\n${list({ ...counted })}`,
    '\nAnswers by operation: statuses, then error codes',
    ...lines,
    '\nRight though a check doubts it',
    ...Object.entries(excused).map(([reason, count]) => `  ${reason}: ${count}`),
    `\nFailures: ${list(failures)}`,
  ].join('\n');
}

function secondsSince(startedMs: number): number {
  return Math.round((Date.now() - startedMs) / 1000);
}

function print(text: string, code = 0): number {
  console.log(text);
  return code;
}

process.exitCode = await main();
