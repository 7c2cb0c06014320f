import { X } from 'lucide-react';
import { Dialog as Primitive } from 'radix-ui';
import { useRef, type ReactNode, type RefObject } from 'react';
import { cn } from '@/lib/cn.ts';
import { Button } from './button.tsx';

interface DialogProps {
  title: ReactNode;
  description: ReactNode;
  /** For a question that has to be answered: a click beside the dialog does not close it, and it has no X. */
  alert?: boolean;
  /** False when only its own buttons may close it. */
  closable?: boolean;
  /** Without it only the buttons end the dialog. */
  onClose?: () => void;
  /** Takes the focus first, instead of the first control. */
  firstFocus?: RefObject<HTMLElement | null>;
  /** Called when the dialog is gone. Without it the focus goes back to where it was. */
  returnFocus?: () => void;
  children: ReactNode;
}

/** It is open for as long as it is mounted. */
export function Dialog({ title, description, alert = false, onClose, children, ...options }: DialogProps) {
  const { closable = !alert, firstFocus, returnFocus } = options;
  // The library would give it back to the button that it opened the dialog by, and knows none.
  const before = useRef<Element | null>(null);
  const returnToBefore = (): void => (before.current as HTMLElement | null)?.focus();
  return (
    <Primitive.Root open onOpenChange={onClose}>
      <Primitive.Portal>
        <Primitive.Overlay className="fixed inset-0 z-50 bg-black/40 dark:bg-black/60 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=closed]:animate-out data-[state=closed]:fade-out-0" />
        <Primitive.Content
          role={alert ? 'alertdialog' : 'dialog'}
          className={cn(
            'fixed top-1/2 left-1/2 z-50 grid max-h-[calc(100dvh-2rem)] w-[calc(100%-2rem)] -translate-x-1/2 -translate-y-1/2 gap-4 overflow-y-auto rounded-xl border border-border bg-popover p-6 shadow-xl shadow-black/10 data-[state=open]:animate-in data-[state=open]:fade-in-0 data-[state=closed]:animate-out data-[state=closed]:fade-out-0 duration-150',
            alert ? 'max-w-md' : 'max-w-lg',
          )}
          onInteractOutside={(event) => alert && event.preventDefault()}
          onOpenAutoFocus={(event) => {
            before.current = document.activeElement;
            if (firstFocus) focusInstead(event, () => firstFocus.current?.focus());
          }}
          onCloseAutoFocus={(event) => focusInstead(event, returnFocus ?? returnToBefore)}
        >
          <div className={cn('grid gap-1', !alert && 'pr-8')}>
            <Primitive.Title className="text-base font-semibold wrap-anywhere">{title}</Primitive.Title>
            <Primitive.Description className="text-sm text-muted-foreground">
              {description}
            </Primitive.Description>
          </div>
          {children}
          {closable && (
            <Primitive.Close className="absolute top-4 right-4 flex size-8 items-center justify-center rounded-md text-muted-foreground hover:bg-accent hover:text-foreground">
              <X aria-hidden className="size-4" />
              <span className="sr-only">Close</span>
            </Primitive.Close>
          )}
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}

function focusInstead(event: Event, focus: () => void): void {
  event.preventDefault();
  focus();
}

export function DialogCancel({ children = 'Cancel', disabled }: { children?: string; disabled?: boolean }) {
  return (
    <Primitive.Close asChild>
      <Button variant="outline" disabled={disabled}>
        {children}
      </Button>
    </Primitive.Close>
  );
}

export function DialogFooter({ children }: { children: ReactNode }) {
  return <div className="mt-2 flex flex-col-reverse gap-2 sm:flex-row sm:justify-end">{children}</div>;
}
