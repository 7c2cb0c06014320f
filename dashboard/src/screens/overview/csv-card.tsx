import { Download } from 'lucide-react';
import { useId, useState } from 'react';
import { useApi } from '@/api/client.ts';
import type { UsageAnswer } from '@/lib/types.ts';
import { ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Card, CardTitle } from '@/components/ui/card.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { useAttempt } from '@/components/use-attempt.ts';
import { saveCsv } from '@/lib/download.ts';
import { formatCount } from '@/lib/format.ts';
import { usageCsv } from './usage-csv.ts';
import { periodCsv, type CsvProgress } from './period-csv.ts';

export function CsvCard({ usage }: { usage: UsageAnswer }) {
  const titleId = useId();
  const { progress, error, saved, start, stop } = usePeriodCsv(usage);
  return (
    <Card aria-labelledby={titleId} className="grid gap-4">
      <div className="flex flex-wrap items-center justify-between gap-4">
        <div className="grid gap-1">
          <CardTitle id={titleId}>This period as CSV</CardTitle>
          <p className="text-muted-foreground">
            For a spreadsheet: the sums by key, identity and day, or every request, also those that failed.
          </p>
        </div>
        {progress === null ? (
          <div className="flex flex-wrap gap-2">
            <Button
              variant="outline"
              onClick={() => saveCsv(usageCsv(usage), fileName('usage', usage))}
              icon={Download}
            >
              Save sums
            </Button>
            <Button variant="outline" onClick={start} icon={Download}>
              Save requests
            </Button>
          </div>
        ) : (
          <Button variant="outline" onClick={stop}>
            Cancel
          </Button>
        )}
      </div>
      {progress !== null && (
        <div className="grid gap-2">
          <Progress aria-label="Requests that were read" value={progress.share * 100} />
          <p className="text-xs text-muted-foreground tabular-nums">{progressText(progress)}</p>
        </div>
      )}
      <p role="status" className="empty:hidden">
        {saved}
      </p>
      {error !== null && <ErrorState error={error} onRetry={start} />}
    </Card>
  );
}

function fileName(what: string, { stats, licenseId }: UsageAnswer): string {
  return `${what}-${stats.billingPeriodStart.slice(0, 10)}-${licenseId.slice(-4)}.csv`;
}

function progressText({ requests, waitSeconds }: CsvProgress): string {
  const read = `${formatCount(requests, 'request')} read.`;
  return waitSeconds === 0 ? read : `${read} The service is busy: going on in ${waitSeconds} s.`;
}

/** Ends when the screen is left. */
function usePeriodCsv(usage: UsageAnswer) {
  const { licenseId, stats } = usage;
  const api = useApi();
  const { pending, error, attempt, stop } = useAttempt();
  const [progress, setProgress] = useState<CsvProgress>(noProgress);
  const [saved, setSaved] = useState('');
  const start = (): void =>
    attempt(async (signal) => {
      let requests = 0;
      const onProgress = (now: CsvProgress): void => {
        requests = now.requests;
        setProgress({ ...now });
      };
      setSaved('');
      onProgress(noProgress);
      const csv = await periodCsv(api, { licenseId, stats, signal, onProgress, nowMs: Date.now() });
      signal.throwIfAborted();
      const name = fileName('requests', usage);
      saveCsv(csv, name);
      setSaved(`${name} was saved, with ${formatCount(requests, 'request')}.`);
    });
  return { progress: pending ? progress : null, error, saved, start, stop };
}

const noProgress: CsvProgress = { requests: 0, share: 0, waitSeconds: 0 };
