import type { ReactNode } from 'react';
import { toast } from 'sonner';
import { useRevokeKey } from '@/api/key-changes.ts';
import type { KeyAnswer } from '@/api/types.ts';
import { Dialog, DialogClose, DialogFooter } from '@/components/ui/dialog.tsx';
import { Button } from '@/components/ui/button.tsx';
import { formatRelative } from '@/lib/format.ts';
import { Time } from '@/components/time.tsx';
import { revokeKeyAdvice } from './key-advice.ts';
import { Problem } from './problem.tsx';

interface RevokeKeyDialogProps {
  item: KeyAnswer;
  onClose: () => void;
  onRevoked: () => void;
  /** Called when the dialog is gone. */
  returnFocus: () => void;
}

/** Asks before a key is revoked for good. Mounted only while it is open. */
export function RevokeKeyDialog({ item, onClose, onRevoked, returnFocus }: RevokeKeyDialogProps) {
  const { mutate, isPending, error } = useRevokeKey();
  const revoke = (): void =>
    mutate(item.keyId, {
      onSuccess: () => {
        toast.success(`“${item.name}” was revoked. Requests with it are refused from now on.`);
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
      {error !== null && <Problem error={error} advise={revokeKeyAdvice} />}
      <DialogFooter>
        <DialogClose asChild>
          <Button variant="outline" disabled={isPending}>
            Cancel
          </Button>
        </DialogClose>
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
      Last used: <Time iso={lastUsedAt}>{formatRelative(lastUsedAt, 'happened')}</Time>.
    </>
  );
}
