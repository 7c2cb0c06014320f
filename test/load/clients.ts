import { seededRandom } from '../faults/simulation/random.ts';
import { callApi } from '../support/service.ts';
import { pause } from '../support/until.ts';
import type { Ledger } from './ledger.ts';
import { kinds } from './traffic.ts';
import type { Turn } from './turn.ts';
import type { LoadWorld } from './world.ts';

export interface LoadOptions {
  clients: number;
  seed: number;
  /** Between a client's answer and its next request, on average. */
  pauseMs: number;
  untilMs: number;
}

/** Nothing that the service does takes longer, deadlines included. */
const answerWithinMs = 30_000;

/** Lets so many clients do one thing after another until the time is over. Resolves when the last was answered. */
export async function runClients(world: LoadWorld, ledger: Ledger, options: LoadOptions): Promise<void> {
  const requests: Turn['requests'] = [];
  const sent: Turn['sent'] = [];
  const weights = Object.fromEntries(Object.entries(kinds).map(([name, { weight }]) => [name, weight]));
  let turns = 0;

  const ask: Turn['ask'] = async (operation, { hangUpAfterMs, ...call }, expected) => {
    const signal = AbortSignal.timeout(hangUpAfterMs ?? answerWithinMs);
    const startedMs = performance.now();
    const answer = await callApi(world.baseUrl, { ...call, signal }).catch((error: Error) => {
      if (hangUpAfterMs !== undefined && signal.aborted) ledger.count(operation, 'hung up');
      else ledger.violate(`${operation}: no answer (${error.message}, ${String(error.cause)}).`);
      return null;
    });
    if (answer !== null) ledger.judge(operation, answer, performance.now() - startedMs, expected);
    return answer;
  };

  async function live(i: number): Promise<void> {
    const random = seededRandom(options.seed + i);
    while (Date.now() < options.untilMs) {
      await pause(random.int(0, 2 * options.pauseMs));
      // Clients take the accounts in turn, so that each gets a few requests a minute.
      const account = world.accounts[turns++ % world.accounts.length]!;
      const kind = random.weighted(weights);
      await kinds[kind]!.act({ random, account, world, requests, sent, ledger, ask }).catch(
        (error: unknown) => ledger.violate(`${kind}: ${(error as Error).message}`),
      );
    }
  }
  await Promise.all(Array.from({ length: options.clients }, (_, i) => live(i)));
}
