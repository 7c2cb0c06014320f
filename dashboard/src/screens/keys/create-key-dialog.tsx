import { TriangleAlert } from 'lucide-react';
import { useEffect, useRef, useState, type FocusEvent, type RefObject } from 'react';
import { useCreateKey } from '@/api/changes.ts';
import type { CreatedKey, KeyAnswer } from '@/lib/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { CreateKeyForm } from './create-key-form.tsx';

interface CreateKeyDialogProps {
  keys: KeyAnswer[];
  onClose: () => void;
  returnFocus: () => void;
}

/** Makes a key and shows it once. Mount it only while it is open, so that the key does not stay in memory. */
export function CreateKeyDialog({ keys, onClose, returnFocus }: CreateKeyDialogProps) {
  const { mutate, reset, data: created, isPending: pending, error } = useCreateKey();
  const [copied, setCopied] = useState(false);
  const [asking, setAsking] = useState(false);
  const nameInput = useRef<HTMLInputElement>(null);
  const keyField = useRef<HTMLElement>(null);
  const unsaved = created !== undefined && !copied;
  useWarningOnLeave(unsaved);
  useEffect(() => {
    if (created !== undefined) keyField.current?.focus();
  }, [created]);

  const close = (): void => {
    // Drops the raw key.
    reset();
    onClose();
  };
  const leave = (): void => {
    if (pending) return;
    if (unsaved) setAsking(true);
    else close();
  };
  const texts =
    created === undefined
      ? { title: 'Create a key', description: 'It is shown once, right after it is made.' }
      : {
          title: (
            <>
              “<bdi>{created.name}</bdi>” is ready
            </>
          ),
          description: 'Programs that have this key can call the API from now on.',
        };
  return (
    <Dialog {...texts} closable={!pending} onClose={leave} firstFocus={nameInput} returnFocus={returnFocus}>
      {created === undefined ? (
        <CreateKeyForm {...{ keys, pending, error, nameInput }} onSubmit={mutate} />
      ) : (
        <NewKey {...{ created, keyField }} onCopied={() => setCopied(true)} onDone={close} />
      )}
      {asking && <CloseWithoutCopying keyField={keyField} onClose={close} onStay={() => setAsking(false)} />}
    </Dialog>
  );
}

/** Reloading or closing the page loses a key that was not copied: the browser asks first. */
function useWarningOnLeave(needed: boolean): void {
  useEffect(() => {
    if (!needed) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [needed]);
}

interface CloseWithoutCopyingProps {
  keyField: RefObject<HTMLElement | null>;
  onClose: () => void;
  onStay: () => void;
}

/** Asks before a key that nobody has copied is lost. */
function CloseWithoutCopying({ keyField, onClose, onStay }: CloseWithoutCopyingProps) {
  return (
    <Dialog
      alert
      title="Close without copying?"
      description="The key can't be shown again. Without a copy it is of no use, and you would have to create another."
      onClose={onStay}
      returnFocus={() => keyField.current?.focus()}
    >
      <DialogFooter>
        <DialogCancel>Go back</DialogCancel>
        <Button variant="destructive" onClick={onClose}>
          Close without copying
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

interface NewKeyProps {
  created: CreatedKey;
  /** Takes the focus when the key is there. */
  keyField: RefObject<HTMLElement | null>;
  onCopied: () => void;
  onDone: () => void;
}

/** The raw key, the only time that it is shown. */
function NewKey({ created, keyField, onCopied, onDone }: NewKeyProps) {
  return (
    <div className="grid grid-cols-1 gap-4">
      <Alert variant="warning" icon={TriangleAlert} title="This is the only time this key is shown.">
        <p>
          Store it now, in a password manager or where your program keeps its secrets. Whoever has it can
          spend the credits of the license.
        </p>
      </Alert>
      <Secret
        label="Your new key"
        copyLabel="Copy key"
        text={created.key}
        {...{ keyField, onCopied }}
        prominent
      />
      <Secret
        label="For your shell"
        copyLabel="Copy line"
        text={`export IMAGE_API_KEY=${created.key}`}
        onCopied={onCopied}
      />
      <DialogFooter>
        <Button variant="outline" onClick={onDone}>
          Done
        </Button>
      </DialogFooter>
    </div>
  );
}

interface SecretProps {
  label: string;
  copyLabel: string;
  text: string;
  onCopied: () => void;
  keyField?: RefObject<HTMLElement | null>;
  prominent?: boolean;
}

/**
 * Text that a click or the focus selects. It is no form control: browsers store the values of those, and send them to
 * spelling services.
 */
function Secret({ label, copyLabel, text, onCopied, keyField, prominent = false }: SecretProps) {
  return (
    <div className="grid grid-cols-1 gap-1">
      <span aria-hidden className="font-medium">
        {label}
      </span>
      <span
        ref={keyField}
        role="textbox"
        aria-readonly
        aria-label={label}
        tabIndex={0}
        translate="no"
        onFocus={selectAll}
        onCopy={onCopied}
        className="rounded-md border border-input bg-muted px-3 py-2 font-mono leading-6 break-all select-all"
      >
        {text}
      </span>
      <div className="mt-1 flex flex-wrap items-center gap-2">
        <CopyButton
          text={text}
          label={copyLabel}
          onCopied={onCopied}
          {...(prominent && { variant: 'default', size: 'default' })}
        />
      </div>
    </div>
  );
}

function selectAll({ currentTarget }: FocusEvent<HTMLElement>): void {
  window.getSelection()?.selectAllChildren(currentTarget);
}
