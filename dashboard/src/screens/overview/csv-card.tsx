import { Download } from 'lucide-react';
import { useEffect, useId, useRef, useState } from 'react';
import { useApi } from '@/api/client.ts';
import type { UsageAnswer } from '@/lib/types.ts';
import { ErrorState } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Card, CardTitle } from '@/components/ui/card.tsx';
import { Progress } from '@/components/ui/progress.tsx';
import { saveFile } from '@/lib/download.ts';
import { formatCount } from '@/lib/format.ts';
import { pause } from '../../../../clients/typescript/src/retry.ts';
import { usageCsv } from './usage-csv.ts';
import { periodCsv, type CsvProgress } from './period-csv.ts';

export function CsvCard({ usage }: { usage: UsageAnswer }) {
  const titleId = useId();
  const { progress, error, saved, start, cancel } = usePeriodCsv(usage);
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
          <Button variant="outline" onClick={cancel}>
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

function saveCsv(csv: string, name: string): void {
  saveFile(new Blob([csv], { type: 'text/csv;charset=utf-8' }), name);
}

function progressText({ requests, waitSeconds }: CsvProgress): string {
  const read = `${formatCount(requests, 'request')} read.`;
  return waitSeconds === 0 ? read : `${read} The service is busy: going on in ${waitSeconds} s.`;
}

/** Ends when the screen is left. */
function usePeriodCsv(usage: UsageAnswer) {
  const { licenseId, stats } = usage;
  const api = useApi();
  const [progress, setProgress] = useState<CsvProgress | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [saved, setSaved] = useState('');
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  const run = async (signal: AbortSignal): Promise<void> => {
    let requests = 0;
    const onProgress = (now: CsvProgress): void => {
      requests = now.requests;
      if (!signal.aborted) setProgress({ ...now });
    };
    const wait = (seconds: number): Promise<void> => pause(seconds * 1000, signal);
    const csv = await periodCsv(api, { licenseId, stats, signal, onProgress, wait, nowMs: Date.now() });
    signal.throwIfAborted();
    const name = fileName('requests', usage);
    saveCsv(csv, name);
    setSaved(`${name} was saved, with ${formatCount(requests, 'request')}.`);
  };
  const start = (): void => {
    const controller = new AbortController();
    running.current = controller;
    setError(null);
    setSaved('');
    setProgress({ requests: 0, share: 0, waitSeconds: 0 });
    run(controller.signal)
      .catch((failure: Error) => !controller.signal.aborted && setError(failure))
      .finally(() => running.current === controller && setProgress(null));
  };
  const cancel = (): void => {
    running.current?.abort();
    setProgress(null);
  };
  return { progress, error, saved, start, cancel };
}
