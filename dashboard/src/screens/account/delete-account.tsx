import { useState } from 'react';
import { useApi } from '@/api/client.ts';
import { useAccount, useSession } from '@/auth/session.ts';
import { Field } from '@/components/field.tsx';
import { ErrorState } from '@/components/states.tsx';
import { useAttempt } from '@/components/use-attempt.ts';
import { Button } from '@/components/ui/button.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { useConfig } from '@/lib/config.ts';
import { emptyAccount, type Progressing } from './empty-account.ts';
import { useUserPool } from './use-user-pool.ts';

export function DeleteAccountCard() {
  const [open, setOpen] = useState(false);
  const { billingPortalUrl } = useConfig();
  return (
    <Card title="Delete my account">
      <p className="mb-4 text-pretty text-muted-foreground">
        Revokes your keys, deletes your requests with all images and prompts, and then your account. What was
        paid for stays on record, with the names of your licenses and keys, and without prompts: ask for
        erasure of that too if you wish. It does not end a subscription:{' '}
        {billingPortalUrl ? 'end it under Billing first' : 'end it first'}.
      </p>
      <Button variant="destructive" onClick={() => setOpen(true)}>
        Delete my account
      </Button>
      {open && <DeleteAccountDialog onClose={() => setOpen(false)} />}
    </Card>
  );
}

function DeleteAccountDialog({ onClose }: { onClose: () => void }) {
  const api = useApi();
  const ask = useUserPool();
  const session = useSession();
  const email = useAccount()?.email ?? '';
  const { pending, error, attempt, stop } = useAttempt();
  const [typed, setTyped] = useState('');
  const [progress, setProgress] = useState<Progressing | null>(null);
  const isNamed = email !== '' && typed.trim().toLowerCase() === email.toLowerCase();
  const run = (): void =>
    attempt(async (signal) => {
      await emptyAccount(api, signal, setProgress);
      await ask('DeleteUser');
      // Where the API does not hear it, it hears of the deletion itself.
      await api.request('PATCH /account', { body: { endSessions: true } }).catch(() => {});
      await session.signOut();
    });
  return (
    <Dialog
      alert
      title="Delete your account for good?"
      description="All images, prompts and keys of all your licenses go, and links to images stop working. The totals of what you paid for stay with the operator, without prompts. This can’t be undone."
      onClose={() => !pending && onClose()}
    >
      <Field label={`Type ${email} to confirm`}>
        <Input autoComplete="off" value={typed} onChange={({ target }) => setTyped(target.value)} />
      </Field>
      {pending && progress !== null && <Deleting {...progress} />}
      {error !== null && <ErrorState error={error} />}
      <DialogFooter>
        {pending ? (
          <Button variant="outline" onClick={stop}>
            Stop
          </Button>
        ) : (
          <DialogCancel />
        )}
        <Button variant="destructive" disabled={!isNamed} pending={pending} onClick={run}>
          Delete my account
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

function Deleting({ what, done, total }: Progressing) {
  return (
    <div className="grid gap-2">
      <p role="status" className="text-xs text-muted-foreground tabular-nums">
        {what} Keep this page open.
      </p>
      <Progress value={(100 * done) / Math.max(1, total)} aria-label="Deleted so far" />
    </div>
  );
}
