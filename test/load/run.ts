import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkBooks } from './books.ts';
import { runClients } from './clients.ts';
import { openClient } from './client.ts';
import { documentedStatuses, openLedger, type Ledger } from './ledger.ts';
import { describe } from './report.ts';
import { promptMark } from './traffic.ts';
import { startLoadWorld, type LoadWorld } from './world.ts';

const usage = `npm run load -- [options]

  --minutes N    how long, 0.1 to 60 (default 1)
  --clients N    how many at once, 1 to 500 (default 200)
  --accounts N   with two keys each, 1 to 2000 (default 100): fewer meet their rate limits more often
  --pause MS     how long a client waits after an answer, on average, 0 to 60000 (default 5000); with 0
                 the service is asked for more than it can do
  --seed N       what clients do and what the model gets wrong follows from it (default: any)
  --log FILE     keeps the service's log

Starts the service in a process and on a folder of its own, uses it from this machine, and stops it. It exits
with 1 when something was answered, stored or logged that must not be.`;

/** Ten seconds; less in a short run, so that there is something to compare. */
const sampleMs = (durationMs: number) => Math.min(10_000, Math.max(1000, durationMs / 30));

async function main(): Promise<number> {
  const options = {
    minutes: { type: 'string', default: '1' },
    clients: { type: 'string', default: '200' },
    accounts: { type: 'string', default: '100' },
    pause: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  const { values } = parseArgs({ options });
  if (values.help) return print(usage);
  const [minutes, clients, accounts, pauseMs, seed] = (
    [
      ['minutes', 0.1, 60],
      ['clients', 1, 500],
      ['accounts', 1, 2000],
      ['pause', 0, 60_000],
      ['seed', 0, 999_999_999],
    ] as const
  ).map(([name, min, max]) => within(values[name], min, max, name === 'minutes')) as number[];
  if ([minutes, clients, accounts, pauseMs, seed].some(Number.isNaN)) return print(usage, 2);
  const durationMs = minutes! * 60_000;
  print(`Seed ${seed}: ${clients} clients for ${minutes} min, ${accounts} accounts.`);
  const world = await startLoadWorld({ accounts: accounts!, seed: seed!, sampleMs: sampleMs(durationMs) });
  try {
    const ledger = openLedger(await readDocument(world));
    const startedMs = Date.now();
    await runClients(world, ledger, {
      clients: clients!,
      seed: seed!,
      pauseMs: pauseMs!,
      untilMs: startedMs + durationMs,
    });
    const samples = world.samples().filter(({ atMs }) => atMs >= startedMs && atMs < startedMs + durationMs);
    const books = await checkBooks(world, ledger);
    await checkEnd(world, ledger);
    const { counts: container } = world.container;
    print(describe({ ledger, books, samples, durationMs, container }));
    return ledger.violationCount === 0 ? 0 : 1;
  } finally {
    if (values.log !== undefined) writeFileSync(values.log, world.logged());
    await world.remove();
  }
}

async function readDocument({ baseUrl }: LoadWorld) {
  const client = openClient(baseUrl);
  const reply = await client.send({ path: '/openapi.json' });
  client.close();
  if (reply.kind !== 'answer') throw new Error('the document could not be read');
  return documentedStatuses(reply.answer.body);
}

/** The service stops as it should, and has told nobody what it must keep. */
async function checkEnd(world: LoadWorld, ledger: Ledger): Promise<void> {
  const code = await world.stop();
  if (code !== 0) ledger.violate(`the service ended with ${code}.`);
  const texts = { logged: world.logged(), printed: world.printed() };
  for (const [where, text] of Object.entries(texts)) {
    for (const [what, pattern] of Object.entries(secrets)) {
      if (pattern.test(text)) ledger.violate(`${what} was ${where}.`);
    }
  }
  const unforeseen = /unhandled|uncaught|Warning:|^\w*Error\b.*/im.exec(texts.printed);
  if (unforeseen) ledger.violate(`the service printed: ${unforeseen[0].slice(0, 200)}`);
}

const secrets = {
  'a key': /svc_live_\w{20}/,
  'a session': /eyJ[\w-]{10,}\.eyJ/,
  'a prompt': new RegExp(promptMark),
  'a signed link': /X-Amz-Signature=[0-9a-f]/,
};

function within(text: string, min: number, max: number, mayBePart: boolean): number {
  const value = (mayBePart ? /^\d{1,2}(\.\d+)?$/ : /^\d{1,9}$/).test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : Number.NaN;
}

function print(text: string, code = 0): number {
  console.log(text);
  return code;
}

process.exitCode = await main();
