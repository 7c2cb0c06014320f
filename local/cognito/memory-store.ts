import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';
import type { Account } from './options.ts';

interface Entry {
  payload: AdapterPayload;
  expiresAtMs: number;
}

/** For each kind of entry. Beyond it the oldest is forgotten, so that nobody can fill the memory. */
const maxEntries = 2000;

/**
 * Keeps the provider's state in memory. As in Cognito, a used refresh token works again within the grace period, so
 * that two tabs that refresh at once both stay signed in. After it, the token is unknown, and so is one from before its account
 * was signed out everywhere.
 */
export function memoryStore(refreshGraceSeconds: number, accounts: readonly Account[]): AdapterFactory {
  return (kind) => {
    const entries = new Map<string, Entry>();
    const find = (id: string) => {
      const entry = entries.get(id);
      if (entry && entry.expiresAtMs > Date.now()) return entry.payload;
      entries.delete(id);
      return undefined;
    };
    const store: Adapter = {
      async upsert(id, payload, expiresInSeconds = Infinity) {
        entries.delete(id);
        entries.set(id, { payload, expiresAtMs: Date.now() + expiresInSeconds * 1000 });
        if (entries.size > maxEntries) entries.delete(entries.keys().next().value!);
      },
      async find(id) {
        const payload = find(id);
        if (kind !== 'RefreshToken') return payload;
        const { signedOutAtMs = 0 } = accounts.find(({ sub }) => sub === payload?.accountId) ?? {};
        if (payload !== undefined && (payload.iat ?? 0) * 1000 <= signedOutAtMs) return undefined;
        if (typeof payload?.consumed !== 'number') return payload;
        const { consumed, ...unused } = payload;
        return nowSeconds() - consumed < refreshGraceSeconds ? unused : undefined;
      },
      async findByUid(uid) {
        const entry = [...entries.values()].find(({ payload }) => payload.uid === uid);
        return entry && entry.expiresAtMs > Date.now() ? entry.payload : undefined;
      },
      async findByUserCode() {},
      async consume(id) {
        const payload = find(id);
        if (payload) payload.consumed ??= nowSeconds();
      },
      async destroy(id) {
        entries.delete(id);
      },
      async revokeByGrantId(grantId) {
        for (const [id, { payload }] of entries) if (payload.grantId === grantId) entries.delete(id);
      },
    };
    return store;
  };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
