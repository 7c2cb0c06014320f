import { useEffect, useState } from 'react';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDuration } from '@/lib/format.ts';
import { frameStyle, gridColumns } from './frame.ts';
import { imageSize } from './results.ts';
import type { Run } from './run-store.ts';

/** A run in the place that its images will have. */
export function RunProgress({ run }: { run: Run }) {
  const { body, progress, identityName } = run;
  const size = imageSize(body);
  const count = body.numOutputs ?? 1;
  const percent = progress === null ? 0 : (progress.step / Math.max(1, progress.steps)) * 100;
  return (
    <div className="mx-auto grid w-full grid-cols-1 gap-4" style={frameStyle(size, count)}>
      <div aria-hidden className={cn('grid gap-2 sm:gap-4', gridColumns(count))}>
        {Array.from({ length: count }, (_, i) => (
          <div
            key={i}
            className="animate-pulse rounded-md bg-secondary"
            style={{ aspectRatio: `${size.width} / ${size.height}` }}
          />
        ))}
      </div>
      <div className="grid gap-2">
        <Progress
          value={percent}
          aria-label={`Progress of ${identityName}`}
          aria-valuetext={stageText(run)}
        />
        <p className="flex justify-between gap-4 tabular-nums">
          <span>{stageText(run)}</span>
          <Elapsed sinceMs={run.startedAtMs} />
        </p>
      </div>
    </div>
  );
}

function stageText({ phase, progress }: Run): string {
  if (phase === 'disconnected') return 'The connection broke. Looking for the result.';
  if (phase === 'uploading') return 'Uploading your images';
  if (phase === 'sending') return 'Sending';
  if (phase === 'queued') return 'Accepted, waiting for its turn';
  return progress === null ? 'Started' : `Step ${progress.step} of ${progress.steps}`;
}

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const [nowMs, setNowMs] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  const tenths = Math.max(0, Math.floor((nowMs - sinceMs) / 100));
  const text = tenths < 600 ? `${(tenths / 10).toFixed(1)} s` : formatDuration(tenths * 100);
  return <span className="text-muted-foreground">{text}</span>;
}
