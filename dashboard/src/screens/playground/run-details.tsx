import { History, RotateCcw } from 'lucide-react';
import { toast } from 'sonner';
import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { formatCount, formatCredits, formatDuration } from '@/lib/format.ts';
import { fillFromStored } from './fill-form.ts';
import type { RunFacts } from './results.ts';
import type { Playground } from './use-playground.ts';
import { bringReferences } from './use-prefill.ts';

interface RunDetailsProps {
  facts: RunFacts;
  /** Null until it is known. */
  stored: StoredGeneration | null;
  playground: Playground;
}

/** What a run was asked for, what became of it, and what can be done with it. */
export function RunDetails({ facts, stored, playground }: RunDetailsProps) {
  const { prompt, identityName, width, height, numOutputs } = facts;
  const details = [
    identityName,
    `${width} × ${height}`,
    ...(numOutputs > 1 ? [formatCount(numOutputs, 'image')] : []),
    ...(stored === null ? [] : outcome(stored)),
  ];
  return (
    <div className="grid gap-4 border-t border-border pt-4">
      <div className="grid min-w-0 gap-1">
        <p dir="auto" className="line-clamp-3 text-pretty wrap-anywhere">
          {prompt}
        </p>
        <ul className="flex flex-wrap gap-x-4 text-xs leading-5 text-muted-foreground tabular-nums">
          {details.map((detail) => (
            <li key={detail} dir="auto">
              {detail}
            </li>
          ))}
        </ul>
      </div>
      {/* As high before they are there, so that nothing jumps. */}
      <div className="flex min-h-8 flex-wrap gap-2">
        {stored !== null && <Actions stored={stored} playground={playground} />}
      </div>
    </div>
  );
}

function Actions({ stored, playground }: { stored: StoredGeneration; playground: Playground }) {
  return (
    <>
      <LinkButton variant="outline" size="sm" to={`/history/${encodeURIComponent(stored.id)}`} icon={History}>
        Open in history
      </LinkButton>
      <Button variant="outline" size="sm" onClick={() => reuse(stored, playground)} icon={RotateCcw}>
        Use these settings
      </Button>
    </>
  );
}

function outcome({ status, type, referenceImagesUsed, processingTimeMs, creditsCharged }: StoredGeneration) {
  if (!isFinal(status)) return [];
  const kind = type === 'exact_product' ? 'exact product image' : 'reference image';
  return [
    ...(type === 'text_to_image' ? [] : [formatCount(referenceImagesUsed, kind)]),
    ...(processingTimeMs === null ? [] : [formatDuration(processingTimeMs)]),
    ...(status === 'COMPLETED' ? [`${formatCredits(creditsCharged)} charged`] : []),
  ];
}

function reuse(stored: StoredGeneration, { license, identities, change, uploadTo }: Playground): void {
  const { values, notes } = fillFromStored(stored, license, identities);
  change(values);
  const identity = identities.find(({ id }) => id === values.identityId);
  const all = [...notes, ...bringReferences(stored, identity, uploadTo)];
  toast('The form has these settings again, with their seed.', { description: all.join(' ') || undefined });
}
