import { CircleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { toast } from 'sonner';
import { isAtWork, setJob, useJob, type BulkJob } from '@/api/bulk-job.ts';
import { useRunJob } from '@/api/run-job.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { formatCount, formatNumber } from '@/lib/format.ts';
import { isolated } from '@/lib/text.ts';

/** Runs the job there is, shows how far it is, and names what failed. */
export default function BulkJobPanel() {
  const job = useJob();
  const panel = useRef<HTMLElement>(null);
  const { stop, retry } = useRunJob((ended) => {
    if (ended.failures.length > 0) return;
    toast.success(endSentence(ended));
    setJob(null);
  });
  const has = job !== null;
  useEffect(() => {
    if (has) panel.current?.scrollIntoView({ block: 'nearest' });
  }, [has]);
  if (job === null) return null;
  const leave = (): void => {
    stop();
    toast(
      `Stopped after ${formatNumber(job.total - job.waiting.length)} of ${formatCount(job.total, 'request')}.`,
    );
  };
  return (
    <section
      ref={panel}
      aria-label="Job"
      className="mb-6 grid gap-3 rounded-lg border border-border bg-card p-4"
    >
      {isAtWork(job) ? <AtWork job={job} onStop={leave} /> : <Ended job={job} onRetry={retry} />}
    </section>
  );
}

function AtWork({ job, onStop }: { job: BulkJob; onStop: () => void }) {
  const { kind, total, waiting, parts } = job;
  const done = total - waiting.length;
  const what = kind === 'delete' ? 'Deleting' : 'Saving as ZIP';
  return (
    <>
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p className="font-medium tabular-nums">
          {what}: {formatNumber(done)} of {formatCount(total, 'request')}
          {parts > 0 && `, ${formatCount(parts, 'file')} saved`}
        </p>
        <Button variant="outline" size="sm" onClick={onStop}>
          Stop
        </Button>
      </div>
      <Progress value={(100 * done) / total} aria-label={what} />
      <p className="text-xs text-muted-foreground">
        At most 60 requests a minute. Leave this tab open; after a reload it goes on by itself.
      </p>
    </>
  );
}

/** So many failures are named one by one. */
const named = 20;

function Ended({ job, onRetry }: { job: BulkJob; onRetry: () => void }) {
  const { kind, failures } = job;
  const title = `${formatCount(failures.length, 'request')} could not be ${kind === 'delete' ? 'deleted' : 'saved whole'}`;
  return (
    <>
      <Alert role="alert" icon={CircleAlert} variant="destructive" title={title}>
        <ul className="grid gap-1">
          {failures.slice(0, named).map(({ id, label, sentence }) => (
            <li key={id} className="wrap-anywhere">
              “{isolated(label)}”: {sentence}
            </li>
          ))}
          {failures.length > named && <li>And {formatNumber(failures.length - named)} more.</li>}
        </ul>
      </Alert>
      <div className="flex justify-end gap-2">
        <Button variant="outline" size="sm" onClick={() => setJob(null)}>
          Close
        </Button>
        <Button variant="outline" size="sm" onClick={onRetry}>
          Try again
        </Button>
      </div>
    </>
  );
}

function endSentence({ kind, total, parts }: BulkJob): string {
  if (kind === 'zip')
    return parts === 1 ? 'The ZIP was saved.' : `${formatCount(parts, 'ZIP file')} were saved.`;
  return total === 1 ? 'The request was deleted.' : `${formatCount(total, 'request')} were deleted.`;
}
