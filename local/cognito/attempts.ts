const maxFailures = 10;
const windowMs = 60_000;
/** Names are whatever a visitor types: the oldest are forgotten. */
const maxNames = 1000;

export interface Attempts {
  /** Whether so many tries for this name have failed lately that no further one is looked at. */
  exhausted(name: string): boolean;
  failed(name: string): void;
  succeeded(name: string): void;
}

/** Counts failed tries to sign in: ten in a minute are as many as one e-mail address gets. */
export function countAttempts(): Attempts {
  const failures = new Map<string, number[]>();
  const recent = (name: string) =>
    (failures.get(name) ?? []).filter((failedMs) => failedMs > Date.now() - windowMs);
  return {
    exhausted: (name) => recent(name).length >= maxFailures,
    failed(name) {
      const times = [...recent(name), Date.now()];
      failures.delete(name);
      failures.set(name, times);
      if (failures.size > maxNames) failures.delete(failures.keys().next().value!);
    },
    succeeded: (name) => void failures.delete(name),
  };
}
