import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { bundledPackages, bundleName, bundlePackages } from './bundle-packages.ts';
import { parts } from './parts.ts';

const known = Object.keys(parts) as (keyof typeof parts)[];
const usage = `npm run mutation -- [options] [PART...]

  --mutate GLOB        changes these files only; may be given several times
  --concurrency COUNT  runs so many tests at a time
  --incremental        takes over what the last run found about code that is as it was
  --help               prints this

Changes each part of the code (${known.join(', ')}) in many small ways and sees whether its tests notice.
Reports lie in .stryker/; it fails below 90 percent.`;
type MutantResult = Awaited<ReturnType<Stryker['runMutationTest']>>[number];

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mutate: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
    incremental: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit();
}
const unknown = positionals.find((name) => !known.some((one) => one === name));
if (unknown !== undefined) throw new Error(`No part ${unknown}: there are ${known.join(', ')}.`);

const packages = resolve('.stryker/packages');
await bundlePackages(packages);
const scores: Score[] = [];
for (const name of known) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const results: MutantResult[] = [];
  for (const [room, code] of roomsOf(name)) {
    console.log(`${name}: ${room}`);
    results.push(...(await runRoom(name, room, code)));
  }
  scores.push(scoreOf(name, results));
}
console.table(scores);
if (scores.some(({ score }) => score < 90)) process.exitCode = 1;

/** A room at a time: a mutant's run costs by the number of test files that any of them reaches. */
function roomsOf(name: keyof typeof parts): Map<string, string[]> {
  const code = values.mutate ?? parts[name].code.map((one) => `shared/${one}`);
  return Map.groupBy(code, (path) => path.split('/')[1]!.replace(/\W+/g, '-'));
}

function runRoom(name: keyof typeof parts, room: string, mutate: string[]): Promise<MutantResult[]> {
  const jestConfig = {
    testMatch: parts[name].tests.map((tests) => `<rootDir>/test/${tests}.test.ts`),
    moduleNameMapper: Object.fromEntries(
      bundledPackages.map((one) => [`^${one}$`, `${packages}/${bundleName(one)}.js`]),
    ),
  };
  const report = `.stryker/${name}-${room}`;
  const stryker = new Stryker({
    mutate,
    ...(values.concurrency === undefined ? {} : { concurrency: Number(values.concurrency) }),
    incremental: values.incremental,
    incrementalFile: `${report}-incremental.json`,
    jsonReporter: { fileName: `${report}.json` },
    htmlReporter: { fileName: `${report}.html` },
    jest: { config: jestConfig },
  });
  return stryker.runMutationTest();
}

interface Score {
  part: string;
  mutants: number;
  /** By a failing test. */
  killed: number;
  hung: number;
  survived: number;
  notReached: number;
  /** In percent, of all but those that keep a test file from loading. */
  score: number;
}

function scoreOf(part: string, results: MutantResult[]): Score {
  const count = (status: MutantResult['status']) => results.filter((one) => one.status === status).length;
  const [killed, hung] = [count('Killed'), count('Timeout')];
  const [survived, notReached] = [count('Survived'), count('NoCoverage')];
  const mutants = killed + hung + survived + notReached;
  const score = Math.round((1000 * (killed + hung)) / mutants) / 10;
  return { part, mutants, killed, hung, survived, notReached, score };
}
