import { useSyncExternalStore } from 'react';
import { useLicenses } from '@/api/queries.ts';
import type { LicenseAnswer } from '@/lib/types.ts';
import { createChoice } from '@/lib/store.ts';

const choice = createChoice('license');

/** The account's licenses, and the one that the screens are about: null while there is none. */
export function useLicenseChoice() {
  const query = useLicenses();
  const licenseId = useSyncExternalStore(choice.subscribe, choice.get);
  const licenses = query.data ?? [];
  const license =
    licenses.find((item) => item.licenseId === licenseId) ??
    licenses.find((item) => item.usable) ??
    licenses[0] ??
    null;
  return { license, licenses, select: choice.set, query };
}

/** The selected license. Use it below `RequireLicense` only. */
export function useLicense(): LicenseAnswer {
  const { license } = useLicenseChoice();
  if (license === null) throw new Error('There is no RequireLicense above this component.');
  return license;
}
