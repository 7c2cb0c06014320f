import { defaultValues, type FormValues } from './form-values.ts';
import { createWatched } from './watched.ts';

/** The two calls of a browser's storage that are used. */
export interface TabStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
}

export type FormStore = ReturnType<typeof createFormStore>;

const key = 'playground-form';

/**
 * Form values that outlive the screen. Settings are kept for the tab; prompts, which may be confidential, in memory
 * only. For `useSyncExternalStore`.
 */
export function createFormStore(storage: () => TabStorage) {
  const { subscribe, get, set } = createWatched<FormValues>({ ...defaultValues, ...recall(storage) });
  return {
    subscribe,
    values: get,
    change(change: Partial<FormValues>): void {
      set(change);
      remember(storage, get());
    },
  };
}

function remember(storage: () => TabStorage, values: FormValues): void {
  const { prompt: _, negativePrompt: __, ...settings } = values;
  try {
    storage().setItem(key, JSON.stringify(settings));
  } catch {
    // Storage may be full or switched off: the values live as long as the page.
  }
}

function recall(storage: () => TabStorage): Partial<FormValues> {
  try {
    const kept: unknown = JSON.parse(storage().getItem(key) ?? 'null');
    if (typeof kept !== 'object' || kept === null) return {};
    const known = Object.entries(kept).filter(
      ([name, value]) =>
        Object.hasOwn(defaultValues, name) &&
        !name.toLowerCase().includes('prompt') &&
        typeof value === typeof defaultValues[name as keyof FormValues],
    );
    return Object.fromEntries(known) as Partial<FormValues>;
  } catch {
    return {};
  }
}
