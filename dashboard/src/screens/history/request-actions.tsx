import { FolderDown, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { isAtWork, startJob, useJob } from '@/api/bulk-job.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button, type ButtonProps } from '@/components/ui/button.tsx';
import { Dialog, DialogCancel, DialogFooter } from '@/components/ui/dialog.tsx';
import { deletionQuestion } from './selection.ts';
import { useListSearch } from './back-to-list.tsx';

interface JobButtonProps extends ButtonProps {
  requests: readonly StoredGeneration[];
}

/** Begins a job. While one is under way no other one begins. */
function JobButton({ requests, ...props }: JobButtonProps) {
  const isBusy = isAtWork(useJob());
  return (
    <Button
      {...props}
      disabled={isBusy || requests.length === 0}
      title={isBusy ? 'Wait until the job at the top of the page has ended.' : undefined}
    />
  );
}

/** Asks before requests are deleted for good, as a job. */
export function DeleteButton({ onBegun, ...props }: JobButtonProps & { onBegun: () => void }) {
  const [open, setOpen] = useState(false);
  const { title, text } = deletionQuestion(props.requests);
  const begin = (): void => {
    startJob('delete', props.requests);
    setOpen(false);
    onBegun();
  };
  return (
    <>
      <JobButton {...props} icon={Trash2} onClick={() => setOpen(true)} />
      {open && (
        <Dialog alert title={title} description={text} onClose={() => setOpen(false)}>
          <DialogFooter>
            <DialogCancel />
            <Button variant="destructive" onClick={begin}>
              Delete for good
            </Button>
          </DialogFooter>
        </Dialog>
      )}
    </>
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

/** Saves the images of requests, with their prompts and parameters, as a job. */
export function ZipButton({ requests, ...props }: JobButtonProps) {
  const withImages = requests.filter(({ outputs }) => outputs.length > 0);
  const begin = (): void => startJob('zip', withImages);
  return <JobButton {...props} requests={withImages} variant="outline" icon={FolderDown} onClick={begin} />;
}
