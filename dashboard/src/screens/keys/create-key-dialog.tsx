import { useEffect, useRef, useState } from 'react';
import type { KeyAnswer } from '@/api/types.ts';
import {
  Dialog,
  DialogContent,
  DialogDescription,
  DialogHeader,
  DialogTitle,
} from '@/components/ui/dialog.tsx';
import { CloseWithoutCopying } from './close-without-copying.tsx';
import { CreateKeyForm } from './create-key-form.tsx';
import { NewKey } from './new-key.tsx';
import { useKeyCreation } from './use-key-creation.ts';

interface CreateKeyDialogProps {
  keys: KeyAnswer[];
  onClose: () => void;
  /** Called when the dialog is gone. */
  returnFocus: () => void;
}

/** Makes a key and shows it once. Mounted only while it is open, so that nothing of the key outlives it. */
export function CreateKeyDialog({ keys, onClose, returnFocus }: CreateKeyDialogProps) {
  const { create, forget, created, pending, error, unsaved, markCopied } = useKeyCreation();
  const [asking, setAsking] = useState(false);
  const nameInput = useRef<HTMLInputElement>(null);
  const keyField = useRef<HTMLElement>(null);
  useEffect(() => {
    if (created !== undefined) keyField.current?.focus();
  }, [created]);

  const close = (): void => {
    forget();
    onClose();
  };
  const leave = (): void => {
    if (pending) return;
    if (unsaved) setAsking(true);
    else close();
  };
  return (
    <Dialog open onOpenChange={leave}>
      <DialogContent
        closable={!pending}
        onOpenAutoFocus={(event) => focusInstead(event, () => nameInput.current?.focus())}
        onCloseAutoFocus={(event) => focusInstead(event, returnFocus)}
      >
        <Heading name={created?.name} />
        {created === undefined ? (
          <CreateKeyForm {...{ keys, pending, error, nameInput }} onSubmit={create} />
        ) : (
          <NewKey {...{ created, keyField }} onCopied={markCopied} onDone={close} />
        )}
        {asking && (
          <CloseWithoutCopying
            onClose={close}
            onStay={() => setAsking(false)}
            returnFocus={() => keyField.current?.focus()}
          />
        )}
      </DialogContent>
    </Dialog>
  );
}

function Heading({ name }: { name: string | undefined }) {
  return (
    <DialogHeader>
      <DialogTitle className="wrap-anywhere">
        {name === undefined ? (
          'Create a key'
        ) : (
          <>
            “<bdi>{name}</bdi>” is ready
          </>
        )}
      </DialogTitle>
      <DialogDescription>
        {name === undefined
          ? 'It is shown once, right after it is made.'
          : 'Programs that have this key can call the API from now on.'}
      </DialogDescription>
    </DialogHeader>
  );
}

function focusInstead(event: Event, focus: () => void): void {
  event.preventDefault();
  focus();
}
