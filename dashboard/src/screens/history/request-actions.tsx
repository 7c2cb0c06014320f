import { CircleAlert, Trash2, FolderDown, X } from 'lucide-react';
import { useRef, useState, type ReactNode, useEffect } from 'react';
import { toast } from 'sonner';
import { useNavigate } from 'react-router';
import { useQueryClient } from '@tanstack/react-query';
import { useDeleteGenerations, type DeleteOutcome } from '@/api/changes.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { formatCount } from '@/lib/format.ts';
import { isolated, shorten } from '@/lib/text.ts';
import { useApi } from '@/api/client.ts';
import { generationOptions } from '@/api/queries.ts';
import { chooseZipFile } from '@/lib/download.ts';
import { deletedSentence, deletionQuestion } from './selection.ts';
import { useListSearch } from './back-to-list.tsx';

interface DeleteDialogProps {
  requests: readonly StoredGeneration[];
  onClose: () => void;
  /** Some may have failed: the dialog names them, for as long as it is not closed. */
  onEnded: (outcome: DeleteOutcome) => void;
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
              {requests.length > 1 && <>“{isolated(shorten(prompt, 60))}”: </>}
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

interface ZipButtonProps {
  requests: readonly StoredGeneration[];
  label: ReactNode;
  className?: string;
}

export function ZipButton({ requests, label, className }: ZipButtonProps) {
  const { progress, start, stop } = useZipDownload();
  const hasImages = requests.some(({ outputs }) => outputs.length > 0);
  return (
    // One button for both, so that the focus stays.
    <Button
      variant="outline"
      disabled={progress === null && !hasImages}
      onClick={() => (progress === null ? start(requests) : stop())}
      className={className}
    >
      {progress === null ? <FolderDown aria-hidden /> : <X aria-hidden />}
      {progress === null ? (
        label
      ) : (
        <span className="tabular-nums">
          Stop<span className="sr-only"> the download</span> ({progress.done}/{progress.total})
        </span>
      )}
    </Button>
  );
}

/** Saves the images of requests as one ZIP. It is stopped when the page is left. */
function useZipDownload() {
  const api = useApi();
  const queries = useQueryClient();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const stopping = useRef(new AbortController());
  useEffect(() => () => stopping.current.abort(), []);
  const renew = (id: string): Promise<StoredGeneration> =>
    queries.query({ ...generationOptions(api, queries, id), staleTime: 0 });

  const save = async (requests: readonly StoredGeneration[]): Promise<void> => {
    const total = requests.reduce((sum, { outputs }) => sum + outputs.length, 0);
    const fileName = zipFileName(requests);
    const target = await chooseZipFile(fileName);
    if (target === null) return;
    const { signal } = (stopping.current = new AbortController());
    let done = 0;
    setProgress({ done, total });
    const onImage = (): void => setProgress({ done: ++done, total });
    try {
      const { archiveImages } = await import('@/lib/image-archive.ts');
      const { maxBytes } = target;
      const { stream, missing } = archiveImages({ requests, renew, maxBytes, onImage, signal });
      await target.write(stream);
      notifyOfEnd(total, missing);
    } catch {
      if (!signal.aborted) toast.error('The ZIP could not be saved. Try again, or select fewer requests.');
    } finally {
      setProgress(null);
    }
  };
  const start = (requests: readonly StoredGeneration[]): void => void save(requests);
  return { progress, start, stop: () => stopping.current.abort() };
}

/** `images-9c8f2b1d.zip` for one request, `images-2026-11-24.zip` for several. */
function zipFileName(requests: readonly StoredGeneration[]): string {
  const [only] = requests;
  if (requests.length === 1 && only !== undefined) return `images-${only.id.slice(-8)}.zip`;
  return `images-${new Date().toISOString().slice(0, 10)}.zip`;
}

const namedMissing = 3;

function notifyOfEnd(total: number, missing: readonly string[]): void {
  const saved = total - missing.length;
  if (missing.length === 0) {
    toast.success(`The ZIP has ${formatCount(saved, 'image')}.`);
    return;
  }
  const named = missing.slice(0, namedMissing).join('. ');
  const more = missing.length > namedMissing ? ` And ${missing.length - namedMissing} more.` : '.';
  toast.warning(`The ZIP has ${saved} of ${formatCount(total, 'image')}.`, {
    description: `${named}${more} The file missing.txt in it names all that are missing.`,
    duration: 20_000,
  });
}
