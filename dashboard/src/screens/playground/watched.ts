/** A value outside of components that can be watched: the two functions that `useSyncExternalStore` asks for, and one to change it. */
export function createWatched<T extends object>(initial: T) {
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
