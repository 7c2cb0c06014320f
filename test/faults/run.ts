import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { playSeeds, type PoolResult } from './worker-pool.ts';
import { plantedBugs } from './all-planted-bugs.ts';
import { plant } from './plant.ts';

const usage = `npm run faults -- [options]

  --seeds N        how many worlds to play (default 1000)
  --from N         the first one's seed (default 1)
  --seed N         plays this one and prints what happened in it
  --planted        plants each known bug and tells which seed finds it: the stored one, or else one of the first 300
  --write          with --planted, stores these seeds in test/faults/planted-seeds.json
  --bug NAME       plants this one (with --seeds or --seed)
  --workers N      processes side by side (default 2)
  --database URL   plays against the DynamoDB at this address in the embedded one's place
  --help           prints this`;

/** A planted bug that takes more is not found. */
const mostSeeds = 300;
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
  const bug = plantedBugs.find(({ name }) => name === values.bug);
  if (bug !== undefined) plant(bug);
  const { installSimulation, simulate } = await import('./simulation/simulate.ts');
  await installSimulation();
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
  const found: Record<string, number> = {};
  const waiting = [...plantedBugs];
  const work = async (): Promise<void> => {
    for (let bug = waiting.shift(); bug !== undefined; bug = waiting.shift()) {
      const { name, what } = bug;
      const last = stored[name];
      const play = (from: number, count: number) => playSeeds({ from, count, workers: 1, bug: name });
      let broken = last === undefined ? null : (await play(last, 1)).broken;
      const isOutOfDate = broken === null;
      broken ??= (await play(1, mostSeeds)).broken;
      if (broken === null) {
        console.log(`✗ ${name}: ${what}\n    not found in ${mostSeeds} seeds`);
        continue;
      }
      found[name] = broken.seed;
      // After each, because all of them take long.
      if (values.write) storeSeeds({ ...stored, ...found });
      console.log(`✓ ${name}: ${what}\n    seed ${broken.seed}: ${broken.violations[0]}`);
      if (isOutOfDate) console.log(`    the stored seed, ${last ?? 'none'}, is out of date: use --write`);
    }
  };
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  const passed = Object.keys(found).length;
  console.log(`${plantedBugs.length} planted bugs in ${seconds(startedMs)} s`);
  console.log(`${passed} passed, ${plantedBugs.length - passed} failed`);
  if (passed < plantedBugs.length) process.exitCode = 1;
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
