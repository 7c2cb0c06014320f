import { useSyncExternalStore } from 'react';

// Beside the sidebar, a table with six columns fits from here on.
const wide = window.matchMedia('(min-width: 80rem)');

export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => wide.matches);
}

function subscribe(listener: () => void): () => void {
  wide.addEventListener('change', listener);
  return () => wide.removeEventListener('change', listener);
}
