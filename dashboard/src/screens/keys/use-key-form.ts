import { useState } from 'react';
import type { LicenseAnswer } from '@/api/types.ts';
import { problemsOf, type KeyFormProblems, type KeyFormValues } from './key-form.ts';

export interface KeyForm {
  values: KeyFormValues;
  set: (changes: Partial<KeyFormValues>) => void;
  /** What is wrong with fields that were left, and after `check` with any. */
  problems: KeyFormProblems;
  leave: (field: keyof KeyFormProblems) => void;
  /** Shows everything that is wrong. @returns it, as it is at this moment. */
  check: (nowMs: number) => KeyFormProblems;
}

/** What is entered for a new key; the current license is chosen, or the first one that can have keys. */
export function useKeyForm(current: LicenseAnswer, licenses: LicenseAnswer[]): KeyForm {
  const [values, setValues] = useState<KeyFormValues>(() => ({
    licenseId: (current.usable ? current : licenses.find(({ usable }) => usable))?.licenseId ?? '',
    name: '',
    expiry: 'never',
    customTime: '',
  }));
  const [shown, setShown] = useState<Partial<KeyFormProblems>>({});
  return {
    values,
    set: (changes) => {
      const next = { ...values, ...changes };
      setValues(next);
      // A complaint goes as soon as it is met; a new one waits until the field is left.
      const problems = problemsOf(next, Date.now());
      setShown((now) => ({
        license: now.license && problems.license,
        name: now.name && problems.name,
        customTime: now.customTime && problems.customTime,
      }));
    },
    problems: {
      license: shown.license ?? null,
      name: shown.name ?? null,
      customTime: shown.customTime ?? null,
    },
    leave: (field) => setShown((now) => ({ ...now, [field]: problemsOf(values, Date.now())[field] })),
    check: (nowMs) => {
      const problems = problemsOf(values, nowMs);
      setShown(problems);
      return problems;
    },
  };
}
