import { TriangleAlert } from 'lucide-react';
import { useRef, type RefObject, type SubmitEvent } from 'react';
import type { CreateKeyBody, KeyAnswer, LicenseAnswer } from '@/lib/types.ts';
import { Field } from '@/components/field.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { choicesOf, Select } from '@/components/ui/select.tsx';
import { controlTime, formatCount, formatDateTime } from '@/lib/format.ts';
import { isolated } from '@/lib/text.ts';
import { useNow } from '@/lib/use-now.ts';
import { licenseProblem } from '@/license/license-badge.tsx';
import { useLicense, useLicenseChoice } from '@/license/license-choice.ts';
import {
  createKeyAdvice,
  bodyOf,
  expiresAt,
  expiryChoices,
  problemsOf,
  proposedPlaces,
  type ExpiryChoice,
  type KeyFormValues,
} from './key-form.ts';
import { AccessField, BudgetField, NameField, PlacesField, TextField, useForm } from './key-fields.tsx';
import { activeKeysOf, maxActiveKeys } from './key-view.ts';

interface CreateKeyFormProps {
  /** All of the account, as far as they are known. */
  keys: KeyAnswer[];
  pending: boolean;
  error: Error | null;
  nameInput: RefObject<HTMLInputElement | null>;
  onSubmit: (body: CreateKeyBody) => void;
}

export function CreateKeyForm({ keys, pending, error, nameInput, onSubmit }: CreateKeyFormProps) {
  const { licenses } = useLicenseChoice();
  const form = useKeyForm(useLicense(), licenses);
  const budgetInput = useRef<HTMLInputElement>(null);
  const placesInput = useRef<HTMLInputElement>(null);
  const customTime = useRef<HTMLInputElement>(null);
  const nowMs = useNow();
  const { values, license } = form;
  const full = activeKeysOf(keys, values.licenseId, nowMs) >= maxActiveKeys;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (pending || full) return;
    const now = Date.now();
    const inputs = { name: nameInput, budget: budgetInput, places: placesInput, customTime };
    if (form.check(now, inputs)) onSubmit(bodyOf(values, now));
  };
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-4">
      <LicenseField
        {...{ licenses, keys, nowMs }}
        value={values.licenseId}
        error={form.problemOf('license')}
        onChange={(licenseId) => form.set({ licenseId })}
      />
      {full && <FullNotice />}
      <NameField {...form.fieldOf('name')} input={nameInput} />
      <BudgetField {...form.fieldOf('budget')} input={budgetInput} license={license} />
      <AccessField
        value={values.access}
        onChange={(access) => {
          const isNew = access === 'own' && values.places === '' && license !== undefined;
          form.set({ access, ...(isNew && { places: proposedPlaces(license) }) });
        }}
      />
      <PlacesField {...form.fieldOf('places')} input={placesInput} license={license} />
      <ExpiryFields form={form} nowMs={nowMs} customTime={customTime} />
      {error !== null && !pending && (
        <ErrorState error={error} advise={createKeyAdvice} className="bg-background sm:p-4" />
      )}
      <DialogFooter>
        <DialogCancel disabled={pending} />
        <Button type="submit" pending={pending} disabled={full || values.licenseId === ''}>
          Create key
        </Button>
      </DialogFooter>
    </form>
  );
}

function FullNotice() {
  return (
    <Alert
      role="status"
      variant="warning"
      icon={TriangleAlert}
      title={`This license has ${maxActiveKeys} active keys, the most that it may have.`}
    >
      <p>Revoke one that you no longer use, or choose another license, then create the new one.</p>
    </Alert>
  );
}

interface LicenseFieldProps {
  licenses: LicenseAnswer[];
  keys: KeyAnswer[];
  nowMs: number;
  value: string;
  error: string | null;
  onChange: (licenseId: string) => void;
}

/** The license of the new key. Licenses that can't have keys are disabled and say why. */
function LicenseField({ licenses, keys, nowMs, value, error, onChange }: LicenseFieldProps) {
  const choices = licenses.map((license) => {
    const keyCount = formatCount(activeKeysOf(keys, license.licenseId, nowMs), 'active key');
    const label = `${isolated(license.name)} · ${licenseProblem(license) ?? keyCount}`;
    return { id: license.licenseId, label, disabled: !license.usable };
  });
  const none = licenses.some(({ usable }) => usable)
    ? 'Choose a license'
    : 'None of your licenses can have keys';
  return (
    <Field label="License" error={error} hint="The key uses the credits and the identities of this license.">
      <Select none={none} value={value} choices={choices} onChange={(id = '') => onChange(id)} />
    </Field>
  );
}

const minuteMs = 60_000;

interface ExpiryFieldsProps {
  form: KeyForm;
  nowMs: number;
  customTime: RefObject<HTMLInputElement | null>;
}

function ExpiryFields({ form, nowMs, customTime }: ExpiryFieldsProps) {
  const { values } = form;
  const custom = values.expiry === 'custom';
  const choose = (expiry: ExpiryChoice): void => {
    const start = controlTime(Date.parse(expiresAt({ ...values, expiry: '30-days' }, nowMs) ?? ''));
    form.set({ expiry, ...(expiry === 'custom' && values.customTime === '' && { customTime: start }) });
  };
  return (
    <>
      <Field label="Expires" hint={custom ? undefined : ending(expiresAt(values, nowMs))}>
        <Select
          value={values.expiry}
          choices={choicesOf<ExpiryChoice>(expiryChoices)}
          onChange={(expiry) => choose(expiry!)}
        />
      </Field>
      {custom && (
        <TextField
          {...form.fieldOf('customTime')}
          input={customTime}
          label="Date and time"
          hint={`In your time zone, ${timeZone()}.`}
          type="datetime-local"
          required
          min={controlTime(nowMs + minuteMs)}
          max="9998-12-31T23:59"
        />
      )}
    </>
  );
}

function ending(iso: string | null): string {
  return iso === null ? 'It works until you revoke it.' : `It is refused from ${formatDateTime(iso)} on.`;
}

function timeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ');
}

type KeyForm = ReturnType<typeof useKeyForm>;

/** The current license is chosen; where it can't have keys, the user chooses another. */
function useKeyForm({ usable, licenseId }: LicenseAnswer, licenses: LicenseAnswer[]) {
  const empty = {
    name: '',
    budget: '',
    access: 'license',
    places: '',
    expiry: 'never',
    customTime: '',
  } as const;
  const licenseOf = (values: KeyFormValues) =>
    licenses.find((license) => license.licenseId === values.licenseId);
  const form = useForm<KeyFormValues, keyof ReturnType<typeof problemsOf>>(
    () => ({ ...empty, licenseId: usable ? licenseId : '' }),
    (values, nowMs) => problemsOf(values, nowMs, licenseOf(values)),
  );
  return { ...form, license: licenseOf(form.values) };
}
