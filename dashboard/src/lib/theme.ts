import { useSyncExternalStore } from 'react';
import { createStore, recall, remember } from './store.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

// `public/first.js` reads the same key before the first paint.
const key = 'theme';
const system = matchMedia('(prefers-color-scheme: dark)');
const store = createStore({ theme: themes.find((name) => name === recall(key)) ?? 'system' });

store.subscribe(show);
system.addEventListener('change', show);

function show(): void {
  const { theme } = store.get();
  const dark = theme === 'system' ? system.matches : theme === 'dark';
  document.documentElement.classList.toggle('dark', dark);
}

export function setTheme(theme: Theme): void {
  remember(key, theme);
  store.set({ theme });
}

/** The theme that was chosen. */
export function useTheme(): Theme {
  return useSyncExternalStore(store.subscribe, store.get).theme;
}
