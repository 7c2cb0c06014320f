import { FolderDown, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { isAtWork, startJob, useJob } from '@/api/bulk-job.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { deletionQuestion } from './selection.ts';
import { useListSearch } from './back-to-list.tsx';

/** While one is under way no other one begins. */
const busyTitle = 'Wait until the job at the top of the page has ended.';

interface DeleteButtonProps {
  requests: readonly StoredGeneration[];
  /** Called when the deletion has begun. */
  onBegun: () => void;
  variant: 'outline' | 'destructive';
  className?: string;
  children: ReactNode;
}

/** Asks before requests are deleted for good, as a job. */
export function DeleteButton({ requests, onBegun, variant, className, children }: DeleteButtonProps) {
  const [open, setOpen] = useState(false);
  const isBusy = isAtWork(useJob());
  const begin = (): void => {
    startJob('delete', requests);
    setOpen(false);
    onBegun();
  };
  return (
    <>
      <Button
        variant={variant}
        disabled={isBusy || requests.length === 0}
        title={isBusy ? busyTitle : undefined}
        onClick={() => setOpen(true)}
        className={className}
        icon={Trash2}
      >
        {children}
      </Button>
      {open && <DeleteDialog requests={requests} onClose={() => setOpen(false)} onConfirm={begin} />}
    </>
  );
}

interface DeleteDialogProps {
  requests: readonly StoredGeneration[];
  onClose: () => void;
  onConfirm: () => void;
}

function DeleteDialog({ requests, onClose, onConfirm }: DeleteDialogProps) {
  const { title, text } = deletionQuestion(requests);
  return (
    <Dialog alert title={title} description={text} onClose={onClose}>
      <DialogFooter>
        <DialogCancel />
        <Button variant="destructive" onClick={onConfirm}>
          Delete for good
        </Button>
      </DialogFooter>
    </Dialog>
  );
}

/** Deletes the request of the page, and goes back to the list. */
export function DeleteThisButton({ generation }: { generation: StoredGeneration }) {
  const cameFromList = useListSearch() !== null;
  const navigate = useNavigate();
  // Like the link to the list: the place in it is found again.
  const leave = (): void => void (cameFromList ? navigate(-1) : navigate('/history', { replace: true }));
  return (
    <DeleteButton requests={[generation]} onBegun={leave} variant="outline">
      {/* Phones have no room for three names in a row. */}
      <span className="max-sm:sr-only">Delete</span>
    </DeleteButton>
  );
}

interface ZipButtonProps {
  requests: readonly StoredGeneration[];
  label: ReactNode;
  className?: string;
}

/** Saves the images of requests, with their prompts and parameters, as a job. */
export function ZipButton({ requests, label, className }: ZipButtonProps) {
  const isBusy = isAtWork(useJob());
  const withImages = requests.filter(({ outputs }) => outputs.length > 0);
  return (
    <Button
      variant="outline"
      disabled={isBusy || withImages.length === 0}
      title={isBusy ? busyTitle : undefined}
      onClick={() => startJob('zip', withImages)}
      className={className}
      icon={FolderDown}
    >
      {label}
    </Button>
  );
}
