import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { periodFromItem } from '../../shared/licenses/period-store.ts';
import { isPeriod } from '../faults/simulation/invariants.ts';
import type { Item } from '../../shared/table/table.ts';
import { pythonPath } from '../support/python.ts';
import { wrongAtRest } from '../support/stored-state.ts';
import { allItems } from '../support/table-scan.ts';
import { openFuzzedService, type FuzzedService } from './service.ts';

const usage = `npm run fuzz -- [options]

  --cases N     about how many random requests to send, beside those at each boundary (default 2000)
  --seed N      the seed of the requests: with the same one they begin alike (default: any)
  --log FILE    write all output of schemathesis to this file`;

const here = fileURLToPath(new URL('.', import.meta.url));
const operations = 13;

async function main(): Promise<number> {
  const options = {
    cases: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) return print(usage);
  const [cases, seed] = [Number(values.cases), Number(values.seed)];
  if (!(cases > 0) || !(seed >= 0)) return print('--cases and --seed must be whole numbers.', 1);
  if (!pythonPath || !existsSync(join(pythonPath, 'schemathesis')))
    return print('Schemathesis is missing: test/fuzz/README.md says how to install it.', 1);
  const fuzzed = await openFuzzedService(Math.min(160, Math.max(40, Math.ceil(cases / 100))), seed);
  try {
    const wrongDocument = await validateDocument(fuzzed);
    const { code, output } = await runSchemathesis(fuzzed, seed, Math.max(20, Math.ceil(cases / operations)));
    if (values.log !== undefined) writeFileSync(values.log, output);
    if (code !== 0 || !existsSync(fuzzed.summaryFile)) print(output);
    const counts = JSON.parse(readFileSync(fuzzed.summaryFile, 'utf8'));
    const items = await allItems(fuzzed.table);
    const deleted = deletedRequests(items);
    const wrongTotals = wrongAtRest([...items, ...deleted]);
    const answered = counts.answers.deleteGeneration?.['200'] ?? 0;
    if (deleted.length > answered) {
      wrongTotals.push(`${deleted.length} charged requests are gone, and ${answered} were deleted.`);
    }
    console.dir({ ...counts, wrongDocument, wrongTotals }, { depth: null, breakLength: 120 });
    const passed = code === 0 && counts.cases > 0 && wrongTotals.length === 0 && wrongDocument === '';
    const verdict = passed ? 'Nothing was found' : 'Failures were found: they are described above';
    return print(`\n${verdict}, seed ${seed}.`, passed ? 0 : 1);
  } finally {
    await fuzzed.close();
  }
}

/** Runs openapi-spec-validator, which uses the JSON Schemas of the OpenAPI specification. @returns what it finds */
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

/** @param examples of random requests for each operation */
async function runSchemathesis(
  { service, fixtureFile, summaryFile, folder }: FuzzedService,
  seed: number,
  examples: number,
): Promise<{ code: number | null; output: string }> {
  const { baseUrl } = service.ready;
  const config = ['--config-file', join(here, 'schemathesis.toml')];
  const flags = ['--url', baseUrl, '--seed', String(seed), '--max-examples', String(examples), '--no-color'];
  const args = [...config, 'run', `${baseUrl}/openapi.json`, ...flags];
  const child = spawn(join(pythonPath, 'schemathesis'), args, {
    // It writes files of its own there.
    cwd: folder,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: join(here, 'hooks.py'),
      PYTHONDONTWRITEBYTECODE: '1',
      FUZZ_FIXTURE: fixtureFile,
      FUZZ_SUMMARY: summaryFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output: (await printed).join('') };
}

/**
 * Stand-ins for the charged requests that were deleted in the run. A deletion leaves the totals as they are, so where the
 * statistics of a period count more requests than are stored, those were deleted, and cost what is used beyond the others.
 */
function deletedRequests(items: Item[]): Item[] {
  const charged = items.filter(({ PK, status }) => PK.startsWith('GEN#') && status === 'COMPLETED');
  const periods = items.filter(({ PK, SK }) => isPeriod({ PK, SK }));
  return periods.flatMap((item) => {
    const PK = item.PK.replace('PERIOD#', 'GEN#');
    const periodStartMs = Date.parse(item.SK);
    const own = charged.filter((each) => each.PK === PK && each.periodStartMs === periodStartMs);
    const { used, imported, byType } = periodFromItem(item);
    const requests = Object.values(byType).reduce((sum, tally) => sum + tally.requests, 0) - own.length;
    const credits = own.reduce((left, each) => left - each.credits, used - imported);
    return Array.from({ length: Math.max(0, requests) }, (_, i) => ({
      PK,
      SK: `deleted ${i}`,
      periodStartMs,
      status: 'COMPLETED',
      credits: i === 0 ? credits - (requests - 1) : 1,
    }));
  });
}

function print(line: string, code = 0): number {
  console.log(line);
  return code;
}

process.exitCode = await main();
