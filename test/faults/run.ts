import { parseArgs } from 'node:util';
import { mutants } from './mutants.ts';
import { openSimulation } from './open-simulation.ts';
import { playGames, type Game, type SeedReport } from './play-games.ts';

/** Each process plays so many seeds and ends. */
const seedsPerProcess = 100;
/** As few processes as memory allows: each keeps the copies of its mutants. */
const mutantsPerProcess = 35;
/** A mutant that takes more is not found. */
const maxSeeds = 500;

/** README.md says what each is for. */
const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string' },
    workers: { type: 'string', default: '2' },
  },
});
const startedMs = Date.now();
const workers = Number(values.workers);
const seconds = () => Math.round((Date.now() - startedMs) / 1000);

if (values.seed !== undefined) await replay(Number(values.seed));
else if (values.mutants) await proveMutantsAreFound();
else await playSeeds(Number(values.from), Number(values.seeds));

/** The same seed, the same history, whatever was played before it. */
async function replay(seed: number): Promise<void> {
  const simulationWith = await openSimulation();
  const { simulate } = await simulationWith(values.mutant ?? null);
  const { history, violations, fingerprint } = await simulate(seed);
  const result = violations.length === 0 ? 'no invariant broken' : violations.join('; ');
  console.log(`${history.join('\n')}\n\nseed ${seed}, history ${fingerprint}: ${result}`);
  // What the SDK's clients keep would let the process linger; a pipe is written to its end all the same.
  process.stdout.write('', () => process.exit(violations.length === 0 ? 0 : 1));
}

/** Plays seeds until all are played or one has broken an invariant. */
async function playSeeds(from: number, count: number): Promise<void> {
  const { mutant = null } = values;
  const step = Math.min(seedsPerProcess, Math.ceil(count / workers));
  const games = Array.from({ length: Math.ceil(count / step) }, (_, i): Game => {
    return { from: from + i * step, count: Math.min(step, count - i * step), mutant };
  });
  const totals: Record<string, number> = {};
  const broken: SeedReport[] = [];
  let played = 0;
  await playGames(games, { workers, gamesPerProcess: 1 }, (report) => {
    played += 1;
    for (const [name, times] of Object.entries(report.counts)) totals[name] = (totals[name] ?? 0) + times;
    if (played % 1000 === 0) console.log(`  ${played} of ${count} seeds, ${seconds()} s`);
    if (report.violations.length === 0) return;
    broken.push(report);
    games.length = 0;
  });
  for (const name of Object.keys(totals).toSorted())
    console.log(`  ${name.padEnd(40)} ${String(totals[name]).padStart(10)}`);
  conclude(`${played} seeds`, played, Math.min(broken.length, 1));
  const [first] = broken.toSorted((one, other) => one.seed - other.seed);
  if (first === undefined) return;
  console.log(`seed ${first.seed} broke an invariant: ${first.violations.join('; ')}`);
  const option = mutant === null ? '' : ` --mutant ${mutant}`;
  console.log(`Its history: npm run faults -- --seed ${first.seed}${option}`);
}

/** Plays each mutant's own seed; only where that finds nothing any more, the seeds from 1 on. */
async function proveMutantsAreFound(): Promise<void> {
  const all = mutants.filter(({ name }) => (values.mutant ?? name) === name);
  const found = new Map<string, SeedReport>();
  const play = (games: Game[]) =>
    playGames(games, { workers, gamesPerProcess: mutantsPerProcess }, (report) => {
      if (report.violations.length > 0) found.set(report.mutant!, report);
    });
  await play(all.map(({ name, seed }) => ({ mutant: name, from: seed, count: 1 })));
  const left = all.filter(({ name }) => !found.has(name));
  await play(left.map(({ name }) => ({ mutant: name, from: 1, count: maxSeeds })));
  for (const { name, what, seed } of all) {
    const by = found.get(name);
    console.log(`${by ? '✓' : '✗'} ${name}: ${what}`);
    if (by === undefined) console.log(`    not found in ${maxSeeds} seeds`);
    else console.log(`    seed ${by.seed}, after ${by.lines} lines: ${by.violations[0]}`);
    if (by && by.seed !== seed) console.log(`    its seed is ${seed}, which is out of date`);
  }
  conclude(`${all.length} mutants`, all.length, all.length - found.size);
}

function conclude(what: string, count: number, failed: number): void {
  console.log(`${what} in ${seconds()} s`);
  console.log(`${count - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}
