/** State outside of components. `subscribe` and `get` are for `useSyncExternalStore`. */
export function createStore<T extends object>(initial: T) {
  const listeners = new Set<() => void>();
  let value = initial;
  return {
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    get: (): T => value,
    set(change: Partial<T>): void {
      value = { ...value, ...change };
      for (const listener of listeners) listener();
    },
  };
}

/** Keeps a choice in the browser. Storage may be full; the choice is then lost. `public/first.js` replaces what is switched off. */
export function remember(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing is lost but the memory of a choice.
  }
}

export function recall(key: string): string | null {
  return localStorage.getItem(key);
}
