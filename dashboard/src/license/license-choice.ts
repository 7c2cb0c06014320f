import { useSyncExternalStore } from 'react';
import { useLicenses } from '@/api/queries.ts';
import type { LicenseAnswer } from '@/lib/types.ts';
import { createStore, recall, remember } from '@/lib/store.ts';

const storageKey = 'license';
const store = createStore({ licenseId: recall(storageKey) });

function select(licenseId: string): void {
  remember(storageKey, licenseId);
  store.set({ licenseId });
}

/** The account's licenses, and the one that the screens are about: null while there is none. */
export function useLicenseChoice() {
  const query = useLicenses();
  const { licenseId } = useSyncExternalStore(store.subscribe, store.get);
  const licenses = query.data ?? [];
  const license =
    licenses.find((item) => item.licenseId === licenseId) ??
    licenses.find((item) => item.usable) ??
    licenses[0] ??
    null;
  return { license, licenses, select, query };
}

/** The selected license. Use it below `RequireLicense` only. */
export function useLicense(): LicenseAnswer {
  const { license } = useLicenseChoice();
  if (license === null) throw new Error('There is no RequireLicense above this component.');
  return license;
}
