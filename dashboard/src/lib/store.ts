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

/** A choice that the browser remembers; null before the first one. `public/first.js` replaces storage that is switched off. */
export function createChoice(key: string) {
  const store = createStore({ value: localStorage.getItem(key) });
  return {
    subscribe: store.subscribe,
    get: (): string | null => store.get().value,
    set(value: string): void {
      store.set({ value });
      try {
        localStorage.setItem(key, value);
      } catch {
        // Storage is full. Nothing is lost but the memory of a choice.
      }
    },
  };
}
