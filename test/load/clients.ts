import type { ErrorCode } from '../../shared/errors.ts';
import type { FuzzAccount } from '../fuzz/accounts.ts';
import { seededRandom, type Random } from '../faults/simulation/random.ts';
import { pause } from '../support/until.ts';
import { openClient, type Answer, type Call } from './client.ts';
import type { Ledger } from './ledger.ts';
import { kinds, type Kind } from './traffic.ts';
import type { LoadWorld } from './world.ts';

/** A request that was sent with an idempotency key, for others to repeat. */
export interface Sent {
  key: string;
  idempotencyKey: string;
  body: Record<string, unknown>;
}

/** What a client knows while it does one thing. */
export interface Turn {
  random: Random;
  account: FuzzAccount;
  world: LoadWorld;
  /** Requests that were accepted, of this account and of others. */
  requests: Recent<{ account: FuzzAccount; requestId: string }>;
  sent: Recent<Sent>;
  ledger: Ledger;
  ask(operation: string, call: Call, expected: readonly (ErrorCode | number)[]): Promise<Answer | null>;
}

/** The last few of many. */
export interface Recent<T> {
  add(one: T): void;
  pick(random: Random): T | undefined;
}

function recent<T>(most: number): Recent<T> {
  const kept: T[] = [];
  let added = 0;
  return {
    add: (one) => void (kept[added++ % most] = one),
    pick: (random) => (kept.length === 0 ? undefined : random.pick(kept)),
  };
}

export interface LoadOptions {
  clients: number;
  seed: number;
  /** Between a client's answer and its next request, on average. */
  pauseMs: number;
  untilMs: number;
}

/** Lets so many clients do one thing after another until the time is over. Resolves when the last was answered. */
export async function runClients(world: LoadWorld, ledger: Ledger, options: LoadOptions): Promise<void> {
  const client = openClient(world.baseUrl);
  const requests: Turn['requests'] = recent(2000);
  const sent: Turn['sent'] = recent(500);
  const weights = Object.fromEntries(
    Object.entries(kinds).map(([name, { weight }]) => [name, weight]),
  ) as Record<Kind, number>;
  let turns = 0;

  async function act(random: Random): Promise<void> {
    // Taken in turn, accounts are asked a few times a minute each.
    const account = world.accounts[turns++ % world.accounts.length]!;
    const kind = random.weighted<Kind>(weights);
    const ask: Turn['ask'] = async (operation, call, expected) =>
      ledger.judge(operation, await client.send(call), expected);
    await kinds[kind]
      .act({ random, account, world, requests, sent, ledger, ask })
      .catch((error: unknown) => ledger.violate(`${kind}: ${(error as Error).message}`));
  }

  async function live(i: number): Promise<void> {
    const random = seededRandom(options.seed + i);
    while (Date.now() < options.untilMs) {
      await pause(random.int(0, 2 * options.pauseMs));
      await act(random);
    }
  }
  await Promise.all(Array.from({ length: options.clients }, (_, i) => live(i)));
  client.close();
}
