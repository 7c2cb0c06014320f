import { useSyncExternalStore } from 'react';
import { uploadFile } from '../../api/upload.ts';
import { drafts, keepDraft, recallDraft } from '../../lib/drafts.ts';
import { createFormStore, type FormValues } from './form-values.ts';
import { createPairStore } from './pairs.ts';
import { sendable } from './references/reference.ts';
import { createReferenceStore, type ReferenceState } from './references/reference-store.ts';
import { createRunStore, type RunState } from './run-store.ts';

/** The stores of the page. They outlive the screen. */
export const formStore = createFormStore(() => drafts);
export const runStore = createRunStore(() => drafts);
export const pairStore = createPairStore();
export const referenceStore = createReferenceStore(uploadFile, Date.now, lostReferences());
referenceStore.subscribe(() =>
  keepDraft('references', { count: sendable(referenceStore.state().items).length }),
);

/** Files can't be kept over a reload. Nobody should pay for an image without them by mistake. */
function lostReferences(): string | null {
  const { count = 0 } = recallDraft('references');
  return Number(count) > 0
    ? 'Reference images are not kept when the page is loaded again. Add them once more.'
    : null;
}

export function useFormValues(): FormValues {
  return useSyncExternalStore(formStore.subscribe, formStore.values);
}

export function useRunState(): RunState {
  return useSyncExternalStore(runStore.subscribe, runStore.state);
}

export function useReferences(): ReferenceState {
  return useSyncExternalStore(referenceStore.subscribe, referenceStore.state);
}

export function usePairs(): void {
  useSyncExternalStore(pairStore.subscribe, pairStore.state);
}
