import { useSyncExternalStore } from 'react';
import { createChoice } from './store.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

// `public/first.js` reads the same key before the first paint.
const choice = createChoice('theme');
const system = matchMedia('(prefers-color-scheme: dark)');

choice.subscribe(show);
system.addEventListener('change', show);

function show(): void {
  const theme = chosen();
  const dark = theme === 'system' ? system.matches : theme === 'dark';
  document.documentElement.classList.toggle('dark', dark);
}

function chosen(): Theme {
  return themes.find((name) => name === choice.get()) ?? 'system';
}

export const setTheme = choice.set;

export function useTheme(): Theme {
  return useSyncExternalStore(choice.subscribe, chosen);
}
