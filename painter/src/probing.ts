const PAUSE_MS = 60_000;

export interface Probing {
  /** Whether a request of this tenant is tried now. */
  take(tenant: string): boolean;
  /** What was tried was painted. */
  succeeded(): void;
}

/**
 * What is refused is not measured, so a wrong estimate would last. Therefore one request in a while is painted although
 * it seems too large. A tenant whose request came to nothing does not get the next try, or it could keep the painter busy
 * for nothing for ever.
 */
export function createProbing(now: () => number): Probing {
  let last = { tenant: undefined as string | undefined, atMs: -Infinity };
  return {
    take: (tenant) => {
      const atMs = now();
      if (tenant === last.tenant || atMs - last.atMs < PAUSE_MS) return false;
      last = { tenant, atMs };
      return true;
    },
    succeeded: () => void (last.tenant = undefined),
  };
}
