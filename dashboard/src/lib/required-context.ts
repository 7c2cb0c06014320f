import { createContext, use } from 'react';

/**
 * A context that has a value wherever it is used.
 * @returns the context, and the hook that reads it.
 */
export function createRequiredContext<T>(name: string) {
  const Context = createContext<T | null>(null);
  const useValue = (): T => {
    const value = use(Context);
    if (value === null) throw new Error(`There is no ${name} above this component.`);
    return value;
  };
  return [Context, useValue] as const;
}
