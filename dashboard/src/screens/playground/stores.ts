import { useSyncExternalStore } from 'react';
import { createFormStore } from './form-store.ts';
import type { FormValues } from './form-values.ts';
import { createRunStore, type RunState } from './run-store.ts';

/** One of each for the page, so that leaving the screen loses neither what was typed nor what is under way. */
export const formStore = createFormStore(() => sessionStorage);
export const runStore = createRunStore();

export function useFormValues(): FormValues {
  return useSyncExternalStore(formStore.subscribe, formStore.values);
}

export function useRunState(): RunState {
  return useSyncExternalStore(runStore.subscribe, runStore.state);
}
