import { useSyncExternalStore } from 'react';
import { recall, remember } from './storage.ts';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

// `public/theme.js` reads the same key before the first paint.
const key = 'theme';
const systemDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let theme: Theme = themes.find((name) => name === recall(key)) ?? 'system';

systemDark.addEventListener('change', apply);

function apply(): void {
  document.documentElement.classList.toggle('dark', isDark());
  for (const listener of listeners) listener();
}

function isDark(): boolean {
  return theme === 'dark' || (theme === 'system' && systemDark.matches);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function setTheme(next: Theme): void {
  theme = next;
  remember(key, next);
  apply();
}

/** The theme that was chosen, and whether what is shown is dark now (for canvases that CSS does not reach). */
export function useTheme(): { theme: Theme; dark: boolean } {
  return {
    theme: useSyncExternalStore(subscribe, () => theme),
    dark: useSyncExternalStore(subscribe, isDark),
  };
}
