import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { percentile } from '../bench/statistics.ts';
import { callApi } from '../support/service.ts';
import { runClients } from './clients.ts';
import { openLedger, type Ledger } from './ledger.ts';
import type { Sample } from './probe.ts';
import { checkStoredState, type StoredState } from './stored-state.ts';
import { promptMark } from './traffic.ts';
import { startLoadWorld, type LoadWorld } from './world.ts';

const usage = `npm run load -- [options]

  --minutes N    how long (default 1)
  --clients N    how many at once (default 200)
  --pause MS     how long a client waits after an answer, on average (default 5000); with 0 the service is asked
                 for more than it can do
  --seed N       what clients do and what the model gets wrong follows from it (default: any)
  --log FILE     keeps the service's log

Starts the service in a process and on a folder of its own, uses it from this machine, and stops it. It exits
with 1 when something was answered, stored or logged that must not be.`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    clients: { type: 'string', default: '200' },
    pause: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

async function main(): Promise<void> {
  const [minutes, clients, pauseMs, seed] = [values.minutes, values.clients, values.pause, values.seed].map(
    (text) => Number(text),
  ) as [number, number, number, number];
  if (![minutes, clients, pauseMs, seed].every((value) => value >= 0)) throw new Error(usage);
  const durationMs = minutes * 60_000;
  console.log(`Seed ${seed}: ${clients} clients for ${minutes} min.`);
  const world = await startLoadWorld(seed);
  try {
    const document = await callApi(world.baseUrl, { path: '/openapi.json' });
    const ledger = openLedger(document.body);
    const startedMs = Date.now();
    const untilMs = startedMs + durationMs;
    await runClients(world, ledger, { clients, seed, pauseMs, untilMs });
    const samples = world.samples().filter(({ atMs }) => atMs >= startedMs && atMs < untilMs);
    const stored = await checkStoredState(world, ledger);
    await checkEnd(world, ledger);
    report(ledger, stored, samples, world.container.counts);
    process.exitCode = ledger.violations.length === 0 ? 0 : 1;
  } finally {
    if (values.log !== undefined) writeFileSync(values.log, world.logged());
    await world.remove();
  }
}

/** Prints what was seen. */
function report(ledger: Ledger, stored: StoredState, samples: Sample[], model: Record<string, number>): void {
  const { outcomes, durations, violations } = ledger;
  const latenciesMs = Object.entries(durations).map(([operation, of]) => [
    operation,
    [0.5, 0.99, 1].map((share) => Math.round(percentile(of, share))).join(' / '),
  ]);
  const seen = {
    answers: Object.values(durations).reduce((sum, { length }) => sum + length, 0),
    'by operation': outcomes,
    'latency in ms, p50 / p99 / largest': Object.fromEntries(latenciesMs),
    'what the model did': model,
    stored,
    'heap after collections, MiB': samples.map(({ heapMib }) => Math.round(heapMib)),
    'resident memory, MiB': samples.map(({ rssMib }) => Math.round(rssMib)),
    'longest event loop delay, ms': samples.map(({ loopMaxMs }) => Math.round(loopMaxMs)),
    violations,
  };
  console.dir(seen, { depth: null, maxArrayLength: 50, breakLength: 120 });
}

/** Checks that the service stops with exit code 0 and that no secret is in what it printed or logged. */
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

if (values.help) console.log(usage);
else await main();
