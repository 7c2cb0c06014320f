import { TriangleAlert } from 'lucide-react';
import { useRef, type SubmitEvent, type RefObject } from 'react';
import type { CreateKeyBody, KeyAnswer } from '@/api/types.ts';
import { Field } from '@/components/field.tsx';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { DialogClose, DialogFooter } from '@/components/ui/dialog.tsx';
import { Input } from '@/components/ui/input.tsx';
import { useLicense, useLicenseChoice } from '@/license/license-context.tsx';
import { ExpiryFields } from './expiry-fields.tsx';
import { createKeyAdvice } from './key-advice.ts';
import { bodyOf, maxNameLength, nameLength } from './key-form.ts';
import { activeKeysOf, maxActiveKeys } from './key-view.ts';
import { LicenseField } from './license-field.tsx';
import { Problem } from './problem.tsx';
import { useKeyForm, type KeyForm } from './use-key-form.ts';
import { useNow } from '@/lib/use-now.ts';

interface CreateKeyFormProps {
  /** All of the account, as far as they are known. */
  keys: KeyAnswer[];
  pending: boolean;
  error: Error | null;
  /** Where the dialog puts the focus first. */
  nameInput: RefObject<HTMLInputElement | null>;
  onSubmit: (body: CreateKeyBody) => void;
}

export function CreateKeyForm({ keys, pending, error, nameInput, onSubmit }: CreateKeyFormProps) {
  const { licenses } = useLicenseChoice();
  const form = useKeyForm(useLicense(), licenses);
  const customTime = useRef<HTMLInputElement>(null);
  const nowMs = useNow();
  const { values, problems } = form;
  const full = activeKeysOf(keys, values.licenseId, nowMs) >= maxActiveKeys;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (pending || full) return;
    const now = Date.now();
    const found = form.check(now);
    if (found.name !== null) nameInput.current?.focus();
    else if (found.customTime !== null) customTime.current?.focus();
    else if (found.license === null) onSubmit(bodyOf(values, now));
  };
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-4">
      <LicenseField
        {...{ licenses, keys, nowMs }}
        value={values.licenseId}
        error={problems.license}
        onChange={(licenseId) => form.set({ licenseId })}
      />
      {full && <FullNotice />}
      <NameField form={form} input={nameInput} />
      <ExpiryFields form={form} nowMs={nowMs} customTime={customTime} />
      {error !== null && !pending && <Problem error={error} advise={createKeyAdvice} />}
      <DialogFooter>
        <DialogClose asChild>
          <Button variant="outline" disabled={pending}>
            Cancel
          </Button>
        </DialogClose>
        <Button type="submit" pending={pending} disabled={full || values.licenseId === ''}>
          Create key
        </Button>
      </DialogFooter>
    </form>
  );
}

function NameField({ form, input }: { form: KeyForm; input: RefObject<HTMLInputElement | null> }) {
  const { values, problems } = form;
  return (
    <Field
      label="Name"
      error={problems.name}
      hint="The program or the person that will use it."
      aside={`${nameLength(values.name)} of ${maxNameLength}`}
    >
      {(control) => (
        <Input
          {...control}
          ref={input}
          required
          autoComplete="off"
          placeholder="my app"
          value={values.name}
          onChange={(event) => form.set({ name: event.target.value })}
          onBlur={() => form.leave('name')}
        />
      )}
    </Field>
  );
}

function FullNotice() {
  return (
    <Alert role="status" variant="warning">
      <TriangleAlert aria-hidden />
      <AlertTitle>This license has {maxActiveKeys} active keys, the most that it may have.</AlertTitle>
      <AlertDescription>
        Revoke one that you no longer use, or choose another license, then create the new one.
      </AlertDescription>
    </Alert>
  );
}
