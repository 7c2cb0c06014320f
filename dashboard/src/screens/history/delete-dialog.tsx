import { CircleAlert, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { toast } from 'sonner';
import { useNavigate } from 'react-router';
import { useDeleteGenerations, type DeleteOutcome } from '@/api/deletions.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { formatCount } from '@/lib/format.ts';
import { shorten } from '@/lib/text.ts';
import { deletedSentence, deletionQuestion } from './selection.ts';
import { useListSearch } from './back-to-list.tsx';

interface DeleteDialogProps {
  requests: readonly StoredGeneration[];
  onClose: () => void;
  /** Some may have failed: the dialog names them, for as long as it is not closed. */
  onEnded: (outcome: DeleteOutcome) => void;
  /** Called when the dialog is gone. */
  returnFocus?: () => void;
}

/** Asks before requests are deleted for good, and shows how far it is. Mounted only while it is open. */
export function DeleteDialog({ requests, onClose, onEnded, returnFocus }: DeleteDialogProps) {
  // The list behind the dialog loses what was deleted, and the dialog goes on to speak of what it began with.
  const [asked, setAsked] = useState(requests);
  const { run, stop, isPending, ended, outcome } = useDeletion(onEnded);
  const failures = outcome?.failures ?? [];
  const { title, text } = deletionQuestion(asked);
  const again = (): void => {
    const left = asked.filter(({ id }) => failures.some(({ requestId }) => requestId === id));
    setAsked(left);
    run(left);
  };
  return (
    <Dialog
      alert
      title={title}
      description={text}
      onClose={() => !isPending && onClose()}
      {...(returnFocus && { returnFocus })}
    >
      {failures.length > 0 && !isPending && <Failures requests={asked} failures={failures} />}
      {isPending && asked.length > 1 && <Deleting ended={ended} total={asked.length} />}
      <DialogFooter>
        {isPending && asked.length > 1 ? (
          <Button variant="outline" onClick={stop}>
            Stop
          </Button>
        ) : (
          <DialogCancel disabled={isPending}>{failures.length > 0 ? 'Close' : 'Cancel'}</DialogCancel>
        )}
        <Button
          variant="destructive"
          pending={isPending}
          onClick={failures.length > 0 ? again : () => run(asked)}
        >
          {failures.length > 0 && !isPending ? 'Try again' : 'Delete for good'}
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

function useDeletion(whenEnded: DeleteDialogProps['onEnded']) {
  const { mutate, isPending, data: outcome } = useDeleteGenerations();
  const [ended, setEnded] = useState(0);
  const stopping = useRef(new AbortController());
  const run = (requests: readonly StoredGeneration[]): void => {
    setEnded(0);
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    const requestIds = requests.map(({ id }) => id);
    const onEnded = (): void => setEnded((count) => count + 1);
    mutate(
      { requestIds, signal, onEnded },
      {
        onSuccess: (result) => {
          const { length } = result.deleted;
          if (length > 0) toast.success(deletedSentence(length));
          whenEnded(result);
        },
      },
    );
  };
  return { run, stop: () => stopping.current.abort(), isPending, ended, outcome };
}

function Deleting({ ended, total }: { ended: number; total: number }) {
  return (
    <div className="grid gap-2">
      <p className="text-xs text-muted-foreground tabular-nums">
        {ended} of {total}
      </p>
      <Progress value={(100 * ended) / total} aria-label="Deleted so far" />
    </div>
  );
}

interface FailuresProps extends Pick<DeleteOutcome, 'failures'> {
  requests: readonly StoredGeneration[];
}

function Failures({ requests, failures }: FailuresProps) {
  const title =
    requests.length === 1
      ? 'The request could not be deleted'
      : `${formatCount(failures.length, 'request')} could not be deleted`;
  return (
    <Alert role="alert" icon={CircleAlert} variant="destructive" title={title}>
      <ul className="grid gap-1">
        {failures.map(({ requestId, error }) => {
          const prompt = requests.find(({ id }) => id === requestId)?.prompt ?? requestId;
          return (
            <li key={requestId} className="wrap-anywhere">
              {requests.length > 1 && (
                <>
                  “<bdi>{shorten(prompt, 60)}</bdi>”:{' '}
                </>
              )}
              {error instanceof Error ? error.message : 'The service gave no answer.'}
            </li>
          );
        })}
      </ul>
    </Alert>
  );
}

/** Deletes the request of the page, and goes back to the list. */
export function DeleteButton({ generation }: { generation: StoredGeneration }) {
  const [open, setOpen] = useState(false);
  const cameFromList = useListSearch() !== null;
  const navigate = useNavigate();
  const leave = (): void => {
    setOpen(false);
    // Like the link to the list: the place in it is found again.
    if (cameFromList) void navigate(-1);
    else void navigate('/history', { replace: true });
  };
  return (
    <>
      <Button variant="outline" onClick={() => setOpen(true)} icon={Trash2}>
        {/* Phones have no room for three names in a row. */}
        <span className="max-sm:sr-only">Delete</span>
      </Button>
      {open && (
        <DeleteDialog
          requests={[generation]}
          onClose={() => setOpen(false)}
          onEnded={({ failures }) => failures.length === 0 && leave()}
        />
      )}
    </>
  );
}
