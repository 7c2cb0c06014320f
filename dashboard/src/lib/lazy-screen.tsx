import { lazy, useState, type ComponentType } from 'react';

/** Code of the dashboard did not arrive: without a network, or after a newer version has replaced its files. */
export class LoadError extends Error {}

export interface LazyScreen {
  (): React.ReactNode;
  /** Loads the code before it is shown. A failure is seen when it is shown. */
  preload(): void;
}

/**
 * A component whose code is loaded when it is first shown, or before. Code that is there is shown at once: `lazy` alone would
 * show the fallback all the same, and React keeps a fallback for 300 ms. Where the code does not arrive, it throws a `LoadError`.
 */
export function lazyScreen(load: () => Promise<{ default: ComponentType }>): LazyScreen {
  let loaded: ComponentType | null = null;
  let loading: Promise<{ default: ComponentType }> | null = null;
  const loadOnce = (): Promise<{ default: ComponentType }> =>
    (loading ??= load().then(
      (module) => {
        loaded = module.default;
        return module;
      },
      (cause: unknown) => {
        loading = null;
        throw new LoadError('The code could not be loaded.', { cause });
      },
    ));
  const Lazy = lazy(loadOnce);
  function Screen() {
    // Chosen once, so that a screen that is shown is not made anew.
    const [Chosen] = useState<ComponentType>(() => loaded ?? Lazy);
    return <Chosen />;
  }
  return Object.assign(Screen, { preload: () => void loadOnce().catch(() => {}) });
}
