import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { fetchDynamoDbLocal, missingPrograms, startDynamoDbLocal, version } from './dynamodb-local.ts';
import { inRepository, repository } from '../support/repository.ts';

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

/** These need the embedded engine (its clock, its folder, its process) or no table at all. */
const embeddedOnly = ['engine', 'breaker', 'object-store', 'table-away'];

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
    return compare(values.endpoint);
  }
  if (!values['accept-licence']) return print(usage, 2);
  const missing = missingPrograms();
  if (missing !== '') return print(missing, 2);
  const { url, close } = await startDynamoDbLocal(fetchDynamoDbLocal());
  try {
    return compare(url);
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

/** Jest and the simulation print what differs themselves. */
function compare(url: string): number {
  const files = ['dynamodb', 'workflow'].flatMap((folder) =>
    readdirSync(inRepository(`test/engine/${folder}`))
      .filter((name) => name.endsWith('.test.ts') && !embeddedOnly.includes(name.replace('.test.ts', '')))
      .map((name) => `test/engine/${folder}/${name}`),
  );
  const passed = [
    npmRun(url, 'jest', '--selectProjects', 'engine', '--runTestsByPath', ...files),
    npmRun(url, 'faults', '--seeds', String(worlds), '--database', url),
  ];
  return passed.every(Boolean) ? 0 : 1;
}

function npmRun(url: string, script: string, ...args: string[]): boolean {
  const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...args], {
    cwd: repository,
    env: { ...process.env, DYNAMODB_ENDPOINT: url },
    stdio: 'inherit',
  });
  return status === 0;
}

function print(text: string, code: number): number {
  console.log(text);
  return code;
}

process.exitCode = await main().catch((error: Error) => print(error.message, 1));
