import { parseArgs, stripVTControlCharacters } from 'node:util';
import { playSeeds } from '../faults/crew.ts';
import { fetchDynamoDbLocal, missingPrograms, startDynamoDbLocal, version } from './dynamodb-local.ts';
import { runSuite, type Outcome } from './suite.ts';

/** Of the fault simulation: it takes three times as long as on the embedded engine. */
const worlds = 40;

const usage = `npm run parity -- --accept-licence

Runs the tests of the embedded DynamoDB, those of the stores on it, and the first ${worlds} worlds of the fault
simulation against AWS's DynamoDB Local ${version}, and says where the two differ. Nothing else in this project needs it.

DynamoDB Local is not free software. AWS's "DynamoDB Local License Agreement" lets only those use it who have
an AWS account in good standing; the text is LICENSE.txt in its archive. Without --accept-licence nothing is
fetched or started. Give it only if you have such an account and accept that agreement.

  --accept-licence  you do: it is fetched with Maven, run with Java 17, in memory, and stopped afterwards
  --endpoint URL    or: the tests run against a DynamoDB that already runs on this machine, as
                    http://127.0.0.1:8000; they make tables there and leave them`;

async function main(): Promise<number> {
  const options = {
    'accept-licence': { type: 'boolean', default: false },
    endpoint: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) return print(usage, 0);
  if (values.endpoint !== undefined) {
    if (!isOnThisMachine(values.endpoint)) return print('--endpoint must be an address of this machine.', 2);
    return compare(`what runs at ${values.endpoint}`, values.endpoint);
  }
  if (!values['accept-licence']) return print(usage, 2);
  const missing = missingPrograms();
  if (missing !== '') return print(missing, 2);
  const { url, close } = await startDynamoDbLocal(fetchDynamoDbLocal());
  try {
    return await compare(`DynamoDB Local ${version}`, url);
  } finally {
    await close();
  }
}

/** The tests write to whatever they are given. */
function isOnThisMachine(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}

async function compare(what: string, url: string): Promise<number> {
  const wrongTests = report(what, await runSuite(url));
  const { seeds, broken } = await playSeeds({ from: 1, count: worlds, workers: 2, databaseUrl: url });
  if (broken === null) return print(`${seeds} worlds of faults, no invariant broken.`, wrongTests);
  print(`The world of seed ${broken.seed} broke an invariant: ${broken.violations.join('; ')}`);
  return print(`Its history: npm run faults -- --seed ${broken.seed} --database ${url}`, 1);
}

function report(what: string, { counts, differences }: Outcome): number {
  print(`\nAgainst ${what}:\n`);
  for (const [file, { passed, failed, skipped }] of Object.entries(counts).toSorted()) {
    print(`  ${file}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
  }
  for (const { file, test, why } of differences) {
    const text = stripVTControlCharacters(why).split(/\n\s+at /)[0]!;
    print(`\n  ${test} (${file})\n${text.replaceAll(/^/gm, '    ')}`);
  }
  const total = Object.values(counts).reduce((sum, { passed, failed }) => sum + passed + failed, 0);
  return print(`\n${total} tests, ${differences.length} differences.`, differences.length === 0 ? 0 : 1);
}

function print(text: string, code = 0): number {
  console.log(text);
  return code;
}

process.exitCode = await main().catch((error: Error) => print(error.message, 1));
