import { useModelHealth } from '@/api/queries.ts';
import { Progress } from '@/components/ui/progress.tsx';
import { cn } from '@/lib/cn.ts';
import { formatDuration } from '@/lib/format.ts';
import { useNow } from '@/lib/use-now.ts';
import type { RunFacts } from './results.ts';
import { gridColumns } from './sizes.ts';
import { stageText, stopText, type Stage } from './waiting.ts';

/** Where a run is, in the place of its images. */
export function RunProgress({ facts, stage }: { facts: RunFacts; stage: Stage }) {
  const { width, height, numOutputs, identityName, startedAtMs } = facts;
  const { data: health } = useModelHealth(stage === 'QUEUED');
  const text = stageText(stage, stage === 'QUEUED' ? health : undefined);
  return (
    <div className="grid grid-cols-1 gap-4">
      <p role="status" className="sr-only">
        {text}
      </p>
      <div aria-hidden className={cn('grid gap-2 sm:gap-4', gridColumns(numOutputs))}>
        {Array.from({ length: numOutputs }, (_, i) => (
          <div
            key={i}
            className="animate-pulse rounded-md bg-secondary"
            style={{ aspectRatio: `${width} / ${height}` }}
          />
        ))}
      </div>
      <div className="grid gap-2">
        <Progress value={null} aria-label={`Progress of ${identityName}`} aria-valuetext={text} />
        <p className="flex justify-between gap-4 tabular-nums">
          <span>{text}</span>
          <Elapsed sinceMs={startedAtMs} />
        </p>
        {/* Always two lines, so that nothing jumps. */}
        <p className="min-h-10 text-xs leading-5 text-pretty text-muted-foreground">{stopText(stage)}</p>
      </div>
    </div>
  );
}

function Elapsed({ sinceMs }: { sinceMs: number }) {
  const nowMs = useNow(1000);
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / 1000));
  return (
    <span className="shrink-0 text-muted-foreground">
      {seconds === 0 ? '0 s' : formatDuration(seconds * 1000)}
    </span>
  );
}
