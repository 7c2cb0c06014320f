import { createHash } from 'node:crypto';
import type { Level, Write } from './dynalite.ts';
import { within } from './store.ts';

const lifetimeMs = 10 * 60 * 1000;
const sweepEvery = 100;

interface Token {
  fingerprint: string;
  committedAt: number;
}

/** Remembers the ClientRequestTokens of committed transactions, in the database itself, for ten minutes. */
export interface Tokens {
  /** The fingerprint of the transaction that was committed under a token within the last ten minutes. */
  find(token: string): string | undefined;
  /** The writes that remember a token and forget old ones; they are committed with the transaction. */
  remember(token: string, fingerprint: string): Promise<Write[]>;
}

export function openTokens(level: Level, now: () => number): Tokens {
  let untilSweep = 1;
  return {
    find(token) {
      const found = level.getSync(`token~${token}`) as Token | undefined;
      return found && now() - found.committedAt < lifetimeMs ? found.fingerprint : undefined;
    },
    async remember(token, fingerprint) {
      const committedAt = now();
      untilSweep -= 1;
      const old = untilSweep === 0 ? await expired(level, committedAt - lifetimeMs) : [];
      if (untilSweep === 0) untilSweep = sweepEvery;
      return [
        ...old,
        { type: 'put', key: `token~${token}`, value: { fingerprint, committedAt } },
        { type: 'put', key: `token-age~${sortable(committedAt)}~${token}`, value: 0 },
      ];
    },
  };
}

/** Removes twice as many tokens as are added between two sweeps, so that they never pile up. */
async function expired(level: Level, before: number): Promise<Write[]> {
  const prefix = 'token-age~';
  const keys = await level.keys(within(prefix, { lt: sortable(before), limit: 2 * sweepEvery })).all();
  return keys.flatMap((key): Write[] => {
    const token = key.slice(prefix.length + sortable(0).length + 1);
    const current = level.getSync(`token~${token}`) as Token | undefined;
    const isStale = current !== undefined && current.committedAt < before;
    return [{ type: 'del', key }, ...(isStale ? [{ type: 'del' as const, key: `token~${token}` }] : [])];
  });
}

function sortable(timeMs: number): string {
  return String(timeMs).padStart(15, '0');
}

/** Equal requests have the same fingerprint, in whatever order their members are written. */
export function fingerprintOf(request: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify(sorted(request)))
    .digest('base64');
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
