import { createContext, use, useState, type ReactNode } from 'react';
import { useLicenses } from '@/api/queries.ts';
import type { LicenseAnswer } from '@/api/types.ts';
import { recall, remember } from '@/lib/storage.ts';

export interface LicenseChoice {
  /** Null while they are loaded, and for an account without one. */
  license: LicenseAnswer | null;
  licenses: LicenseAnswer[];
  select: (licenseId: string) => void;
  pending: boolean;
  error: Error | null;
  retry: () => void;
  retrying: boolean;
}

const LicenseContext = createContext<LicenseChoice | null>(null);
const storageKey = 'license';

/** Knows the account's licenses and which one the screens are about. */
export function LicenseProvider({ children }: { children: ReactNode }) {
  const { data: licenses = [], isPending, error, refetch, isFetching } = useLicenses();
  const [licenseId, setLicenseId] = useState(() => recall(storageKey));
  const license =
    licenses.find((item) => item.licenseId === licenseId) ??
    licenses.find((item) => item.usable) ??
    licenses[0] ??
    null;
  const select = (id: string): void => {
    setLicenseId(id);
    remember(storageKey, id);
  };
  const retry = (): void => void refetch();
  // Known licenses stay good when a later look at them fails.
  const failure = licenses.length > 0 ? null : error;
  return (
    <LicenseContext
      value={{ license, licenses, select, pending: isPending, error: failure, retry, retrying: isFetching }}
    >
      {children}
    </LicenseContext>
  );
}

/** Everything about the choice, also while there is none. */
export function useLicenseChoice(): LicenseChoice {
  const choice = use(LicenseContext);
  if (choice === null) throw new Error('There is no LicenseProvider above this component.');
  return choice;
}

/** The selected license; only below `RequireLicense`. */
export function useLicense(): LicenseAnswer {
  const { license } = useLicenseChoice();
  if (license === null) throw new Error('There is no RequireLicense above this component.');
  return license;
}
