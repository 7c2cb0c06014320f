import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { playGames, playSeeds, type Game, type PoolResult, type SeedReport } from './worker-pool.ts';
import { plantedBugs } from './all-planted-bugs.ts';
import { openSimulation } from './open-simulation.ts';

const usage = `npm run faults -- [options]

  --seeds N        how many worlds to play (default 1000)
  --from N         the first one's seed (default 1)
  --seed N         plays this one and prints what happened in it
  --planted        plants each known bug and tells which seed finds it: the stored one, or else one of the first 500
  --write          with --planted, looks for the seed that shows each bug soonest, and stores it in planted-seeds.json
  --bug NAME       plants this one (with --seeds, --seed or --planted)
  --workers N      processes side by side (default 2)
  --database URL   plays against the DynamoDB at this address in the embedded one's place
  --help           prints this`;

/** A planted bug that takes more is not found. */
const mostSeeds = 500;
/** By bug: the seed that found it last. */
const storedSeeds = new URL('planted-seeds.json', import.meta.url);

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    planted: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    bug: { type: 'string' },
    workers: { type: 'string', default: '2' },
    database: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) console.log(usage);
else if (values.seed !== undefined) await replay(Number(values.seed));
else if (values.planted) await proveBugsAreFound();
else await playMany();

/** The same seed, the same history, whatever was played before it. */
async function replay(seed: number): Promise<void> {
  const simulationWith = await openSimulation();
  const { simulate } = await simulationWith(values.bug ?? null);
  const { history, violations, fingerprint } = await simulate(seed, { databaseUrl: values.database });
  console.log(history.join('\n'));
  console.log(
    `\nseed ${seed}, history ${fingerprint}: ${violations.length === 0 ? 'no invariant broken' : violations.join('; ')}`,
  );
  // What the SDK's clients keep would let the process linger; a pipe is written to its end all the same.
  process.stdout.write('', () => process.exit(violations.length === 0 ? 0 : 1));
}

async function playMany(): Promise<void> {
  const startedMs = Date.now();
  const count = Number(values.seeds);
  const result = await playSeeds({
    from: Number(values.from),
    count,
    workers: Number(values.workers),
    bug: values.bug ?? null,
    databaseUrl: values.database ?? null,
    onSeed: (_report, done) => {
      if (done % 1000 === 0) console.log(`  ${done} of ${count} seeds, ${seconds(startedMs)} s`);
    },
  });
  printCounts(result);
  console.log(`${result.seeds} seeds in ${seconds(startedMs)} s`);
  if (result.broken === null) return console.log(`${result.seeds} passed, 0 failed`);
  const { seed, violations } = result.broken;
  console.log(`seed ${seed} broke an invariant: ${violations.join('; ')}`);
  const how = (['bug', 'database'] as const).flatMap((name) =>
    values[name] ? [`--${name} ${values[name]}`] : [],
  );
  console.log(`Its history: npm run faults -- ${[`--seed ${seed}`, ...how].join(' ')}`);
  console.log(`${result.seeds - 1} passed, 1 failed`);
  process.exitCode = 1;
}

/** Plants each bug and plays the seed that found it last; only where that does not, the seeds from 1 on. */
async function proveBugsAreFound(): Promise<void> {
  const startedMs = Date.now();
  const stored = JSON.parse(readFileSync(storedSeeds, 'utf8')) as Record<string, number>;
  const bugs = plantedBugs.filter(({ name }) => (values.bug ?? name) === name);
  const found = new Map<string, SeedReport>();
  const play = (games: Game[]) =>
    playGames(games, Number(values.workers), (report) => {
      if (report.violations.length === 0) return;
      found.set(report.bug!, report);
      // At once, because all of them take long.
      if (values.write) storeSeeds({ ...stored, ...seedsOf(found) });
    });
  const left = () => bugs.filter(({ name }) => !found.has(name));
  const playStored = () =>
    play(
      left().flatMap(({ name }) => (name in stored ? [{ bug: name, from: stored[name]!, count: 1 }] : [])),
    );
  if (!values.write) await playStored();
  await play(
    left().map(({ name }) => ({ bug: name, from: 1, count: mostSeeds, seeksShortest: values.write })),
  );
  // A rare one may have a seed beyond those.
  if (values.write) await playStored();
  for (const { name, what } of bugs) {
    const report = found.get(name);
    console.log(`${report ? '✓' : '✗'} ${name}: ${what}`);
    if (report === undefined) console.log(`    not found in ${mostSeeds} seeds`);
    else {
      console.log(`    seed ${report.seed}, after ${report.lines} lines: ${report.violations[0]}`);
      if (!values.write && report.seed !== stored[name])
        console.log(`    the stored seed, ${stored[name] ?? 'none'}, is out of date: use --write`);
    }
  }
  console.log(`${bugs.length} planted bugs in ${seconds(startedMs)} s`);
  console.log(`${found.size} passed, ${bugs.length - found.size} failed`);
  if (found.size < bugs.length) process.exitCode = 1;
}

function seedsOf(found: Map<string, SeedReport>): Record<string, number> {
  return Object.fromEntries([...found].map(([name, { seed }]) => [name, seed]));
}

/** In the order of the bugs. */
function storeSeeds(found: Record<string, number>): void {
  const names = plantedBugs.map(({ name }) => name).filter((name) => name in found);
  const seeds = Object.fromEntries(names.map((name) => [name, found[name]]));
  writeFileSync(storedSeeds, `${JSON.stringify(seeds, null, 2)}\n`);
}

function printCounts({ counts }: PoolResult): void {
  const names = Object.keys(counts).toSorted();
  for (const name of names) console.log(`  ${name.padEnd(40)} ${String(counts[name]).padStart(10)}`);
}

function seconds(sinceMs: number): number {
  return Math.round((Date.now() - sinceMs) / 1000);
}
