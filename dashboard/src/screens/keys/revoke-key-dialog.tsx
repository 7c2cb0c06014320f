import { toast } from 'sonner';
import { useRevokeKey } from '@/api/queries.ts';
import type { KeyAnswer } from '@/api/types.ts';
import {
  AlertDialog,
  AlertDialogCancel,
  AlertDialogContent,
  AlertDialogDescription,
  AlertDialogFooter,
  AlertDialogHeader,
  AlertDialogTitle,
} from '@/components/ui/alert-dialog.tsx';
import { Button } from '@/components/ui/button.tsx';
import { formatRelative } from '@/lib/format.ts';
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
    <AlertDialog open onOpenChange={() => !isPending && onClose()}>
      <AlertDialogContent
        onCloseAutoFocus={(event) => {
          event.preventDefault();
          returnFocus();
        }}
      >
        <AlertDialogHeader>
          <AlertDialogTitle className="wrap-anywhere">
            Revoke “<bdi>{item.name}</bdi>”?
          </AlertDialogTitle>
          <AlertDialogDescription>
            Requests with this key (<code className="whitespace-nowrap">{item.keyPrefix}…</code>) are refused
            at once. This cannot be undone. {lastUse(item)}
          </AlertDialogDescription>
        </AlertDialogHeader>
        {error !== null && <Problem error={error} advise={revokeKeyAdvice} />}
        <AlertDialogFooter>
          <AlertDialogCancel disabled={isPending}>Cancel</AlertDialogCancel>
          <Button variant="destructive" pending={isPending} onClick={revoke}>
            Revoke key
          </Button>
        </AlertDialogFooter>
      </AlertDialogContent>
    </AlertDialog>
  );
}

function lastUse({ lastUsedAt }: KeyAnswer): string {
  if (lastUsedAt === null) return 'It has never been used.';
  const when = formatRelative(lastUsedAt);
  return when.includes('ago') || when === 'just now' ? `It was last used ${when}.` : `Last used: ${when}.`;
}
