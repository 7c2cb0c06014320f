import { TriangleAlert } from 'lucide-react';
import type { FocusEvent, RefObject } from 'react';
import type { CreatedKey } from '@/api/types.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { DialogFooter } from '@/components/ui/dialog.tsx';

interface NewKeyProps {
  created: CreatedKey;
  /** Takes the focus when the key is there. */
  keyField: RefObject<HTMLElement | null>;
  onCopied: () => void;
  onDone: () => void;
}

/** The raw key, the only time that it is shown. */
export function NewKey({ created, keyField, onCopied, onDone }: NewKeyProps) {
  return (
    <div className="grid grid-cols-1 gap-4">
      <Alert variant="warning">
        <TriangleAlert aria-hidden />
        <AlertTitle>This is the only time this key is shown.</AlertTitle>
        <AlertDescription>
          Store it now, in a password manager or where your program keeps its secrets. Whoever has it can
          spend the credits of the license.
        </AlertDescription>
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
 * Text that one click or the focus selects. Not a form's control: browsers keep the content of those to restore a
 * session, and spelling services read it.
 */
function Secret({ label, copyLabel, text, onCopied, keyField, prominent = false }: SecretProps) {
  return (
    <div className="grid grid-cols-1 gap-1">
      <span aria-hidden className="font-medium">
        {label}
      </span>
      <code
        ref={keyField}
        role="textbox"
        aria-readonly
        aria-label={label}
        tabIndex={0}
        translate="no"
        onFocus={selectAll}
        onCopy={onCopied}
        className="rounded-md border border-input bg-muted px-3 py-2 leading-6 break-all select-all"
      >
        {text}
      </code>
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
