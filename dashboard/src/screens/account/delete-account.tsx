import { useState } from 'react';
import { ApiError } from '@/api/api-error.ts';
import { deletePaced } from '@/api/changes.ts';
import { useApi, type Api } from '@/api/client.ts';
import { allPages, patiently } from '@/api/patiently.ts';
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
import { formatCount } from '@/lib/format.ts';
import { useUserPool } from './use-user-pool.ts';

export function DeleteAccountCard() {
  const [open, setOpen] = useState(false);
  const { billingPortalUrl } = useConfig();
  return (
    <Card title="Delete my account">
      <p className="mb-4 text-pretty text-muted-foreground">
        Revokes your keys, deletes your requests with all images and prompts, and then your account. It does
        not end a subscription: {billingPortalUrl ? 'end it under Billing first' : 'end it first'}.
      </p>
      <Button variant="destructive" onClick={() => setOpen(true)}>
        Delete my account
      </Button>
      {open && <DeleteAccountDialog onClose={() => setOpen(false)} />}
    </Card>
  );
}

interface Progressing {
  what: string;
  done: number;
  total: number;
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

/** Keys first, so that nothing new comes. What failed half-way goes on when it is repeated. @throws ApiError where something is left */
async function emptyAccount(
  api: Api,
  signal: AbortSignal,
  report: (now: Progressing) => void,
): Promise<void> {
  const patience = { signal };
  report({ what: 'Revoking your keys.', done: 0, total: 1 });
  const keyPage = (cursor?: string) => api.request('GET /keys', { query: { limit: 100, cursor }, signal });
  for await (const { keys } of allPages(keyPage, patience)) {
    for (const { keyId } of keys.filter(({ status }) => status === 'active')) {
      await patiently(() => api.request('DELETE /keys/{keyId}', { path: { keyId } }), patience);
    }
  }
  const requestIds: string[] = [];
  const { licenses } = await patiently(() => api.request('GET /licenses', { signal }), patience);
  for (const { licenseId } of licenses) {
    const page = (cursor?: string) =>
      api.request('GET /generate', { query: { licenseId, limit: 100, cursor }, signal });
    for await (const { generations } of allPages(page, patience)) {
      requestIds.push(...generations.map(({ id }) => id));
    }
  }
  const total = requestIds.length;
  let [done, failed] = [0, 0];
  await deletePaced(api, requestIds, signal, (_, error) => {
    if (error !== null) failed += 1;
    done += 1;
    report({ what: `${done} of ${formatCount(total, 'request')} deleted.`, done, total });
  });
  signal.throwIfAborted();
  if (failed === 0) return;
  const sentence = `${formatCount(failed, 'request')} could not be deleted, perhaps because they still run. Your account is still there: try again in a minute.`;
  throw new ApiError(sentence, { status: 0, code: 'INCOMPLETE' });
}
