import { useSyncExternalStore } from 'react';
import { uploadFile } from '../../api/upload.ts';
import { drafts } from '../../lib/drafts.ts';
import { createFormStore, type FormValues } from './form-values.ts';
import { createReferenceStore, type ReferenceState } from './references/reference-store.ts';
import { createRunStore, type RunState } from './run-store.ts';

/** The stores of the page. They outlive the screen. */
export const formStore = createFormStore(() => drafts);
export const runStore = createRunStore(() => drafts);
export const referenceStore = createReferenceStore(uploadFile);

export function useFormValues(): FormValues {
  return useSyncExternalStore(formStore.subscribe, formStore.values);
}

export function useRunState(): RunState {
  return useSyncExternalStore(runStore.subscribe, runStore.state);
}

export function useReferences(): ReferenceState {
  return useSyncExternalStore(referenceStore.subscribe, referenceStore.state);
}
