import { useEffect, useRef, type ReactNode, type RefObject, type SubmitEvent } from 'react';
import { toast } from 'sonner';
import { useChangeKey, useRevokeKey } from '@/api/changes.ts';
import { useKeys } from '@/api/queries.ts';
import type { ChangeKeyBody, KeyAnswer } from '@/lib/types.ts';
import { ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { formatCredits } from '@/lib/format.ts';
import { isolated } from '@/lib/text.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { Time } from '@/components/time.tsx';
import { changeKeyAdvice, changesOf, editOf, numberOf, editProblems, revokeKeyAdvice } from './key-form.ts';
import { AccessField, BudgetField, NameField, PlacesField, useForm } from './key-fields.tsx';

/** A key as it was when the dialog was opened, and what somebody is about to do with it. */
export interface ChosenKey {
  item: KeyAnswer;
  dialog: 'edit' | 'revoke';
}

interface KeyDialogProps extends ChosenKey {
  onClose: () => void;
  onRevoked: () => void;
  returnFocus: () => void;
}

export function KeyDialog(props: KeyDialogProps) {
  return props.dialog === 'edit' ? <EditKeyDialog {...props} /> : <RevokeKeyDialog {...props} />;
}

/** Renames a key and changes what it may. Mounted only while it is open. */
function EditKeyDialog({ item, onClose, returnFocus }: KeyDialogProps) {
  const { mutate, isPending, error } = useChangeKey(item.keyId);
  const nameInput = useRef<HTMLInputElement>(null);
  const isRevoked = useIsRevoked(item);
  const save = (changes: ChangeKeyBody | null): void => {
    if (isPending || isRevoked) return;
    if (changes === null) return onClose();
    mutate(changes, {
      onSuccess: ({ name }) => {
        toast.success(`“${isolated(name)}” was changed.`);
        onClose();
      },
    });
  };
  return (
    <Dialog
      title={
        <>
          Edit “<bdi>{item.name}</bdi>”
        </>
      }
      description={`${formatCredits(item.creditsUsed)} used in this period. Changes hold from the next request on.`}
      closable={!isPending}
      onClose={() => !isPending && onClose()}
      firstFocus={nameInput}
      returnFocus={returnFocus}
    >
      <EditKeyForm {...{ item, nameInput, isRevoked }} pending={isPending} onSubmit={save}>
        {isRevoked && <p role="status">It was revoked in the meantime. A revoked key cannot be changed.</p>}
        {error !== null && !isPending && (
          <ErrorState error={error} advise={changeKeyAdvice} className="bg-background sm:p-4" />
        )}
      </EditKeyForm>
    </Dialog>
  );
}

/** Whether it was revoked since the list was fetched, perhaps elsewhere. */
function useIsRevoked({ keyId }: KeyAnswer): boolean {
  const { data: keys = [], refetch } = useKeys();
  useEffect(() => void refetch(), [refetch]);
  return keys.find((key) => key.keyId === keyId)?.status === 'revoked';
}

interface EditKeyFormProps {
  item: KeyAnswer;
  nameInput: RefObject<HTMLInputElement | null>;
  pending: boolean;
  isRevoked: boolean;
  /** Gets null where nothing was changed. */
  onSubmit: (changes: ChangeKeyBody | null) => void;
  children: ReactNode;
}

function EditKeyForm({ item, nameInput, isRevoked, pending, onSubmit, children }: EditKeyFormProps) {
  const { licenses } = useLicenseChoice();
  const license = licenses.find(({ licenseId }) => licenseId === item.licenseId);
  const { values, set, problemOf, fieldOf, check } = useForm(
    () => editOf(item),
    // What is left as it is need not fit a license that has become smaller.
    (edit) => editProblems(edit, edit.places === editOf(item).places ? undefined : license),
  );
  const budgetInput = useRef<HTMLInputElement>(null);
  const placesInput = useRef<HTMLInputElement>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const inputs = { name: nameInput, budget: budgetInput, places: placesInput };
    if (check(Date.now(), inputs)) onSubmit(changesOf(item, values));
  };
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-4">
      <NameField {...fieldOf('name')} input={nameInput} />
      <BudgetField {...fieldOf('budget')} input={budgetInput} license={license} />
      <p role="status" className="text-xs leading-5 empty:hidden">
        {problemOf('budget') === null && refusesAtOnce(values.budget, item) && refusedAtOnce}
      </p>
      <AccessField value={values.access} onChange={(access) => set({ access })} />
      <PlacesField {...fieldOf('places')} input={placesInput} license={license} />
      {children}
      <DialogFooter>
        <DialogCancel disabled={pending} />
        <Button type="submit" pending={pending} disabled={isRevoked}>
          Save
        </Button>
      </DialogFooter>
    </form>
  );
}

const refusedAtOnce = 'The key has used that much already, so its requests are refused from now on.';

function refusesAtOnce(budget: string, { creditsUsed }: KeyAnswer): boolean {
  const credits = numberOf(budget);
  return credits !== null && credits <= creditsUsed;
}

/** Asks before a key is revoked for good. Mounted only while it is open. */
function RevokeKeyDialog({ item, onClose, onRevoked, returnFocus }: KeyDialogProps) {
  const { mutate, isPending, error } = useRevokeKey();
  const revoke = (): void =>
    mutate(item.keyId, {
      onSuccess: () => {
        toast.success(`“${isolated(item.name)}” was revoked. Requests with it are refused from now on.`);
        onRevoked();
      },
    });
  return (
    <Dialog
      alert
      title={
        <>
          Revoke “<bdi>{item.name}</bdi>”?
        </>
      }
      description={
        <>
          Requests with this key (<code className="whitespace-nowrap">{item.keyPrefix}…</code>) are refused at
          once. This cannot be undone. {lastUse(item)}
        </>
      }
      onClose={() => !isPending && onClose()}
      returnFocus={returnFocus}
    >
      {error !== null && (
        <ErrorState error={error} advise={revokeKeyAdvice} className="bg-background sm:p-4" />
      )}
      <DialogFooter>
        <DialogCancel disabled={isPending} />
        <Button variant="destructive" pending={isPending} onClick={revoke}>
          Revoke key
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

function lastUse({ lastUsedAt }: KeyAnswer): ReactNode {
  if (lastUsedAt === null) return 'It has never been used.';
  return (
    <>
      Last used: <Time iso={lastUsedAt} relative />.
    </>
  );
}
