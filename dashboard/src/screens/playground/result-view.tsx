import { History, RotateCcw } from 'lucide-react';
import { Link } from 'react-router';
import { toast } from 'sonner';
import { Button } from '@/components/ui/button.tsx';
import { cn } from '@/lib/cn.ts';
import { formatCount, formatCredits } from '@/lib/format.ts';
import { fitToIdentities, fitToTier, fromBody } from './fill-form.ts';
import { frameStyle, gridColumns } from './frame.ts';
import { ResultImage } from './result-image.tsx';
import { imageSize, timeTaken, type Result } from './results.ts';
import { referenceStore } from './stores.ts';
import type { Playground } from './use-playground.ts';

/** The images of one generation, as large as the window lets them be, and the facts about it. */
export function ResultView({ result, playground }: { result: Result; playground: Playground }) {
  const { outputs, body } = result;
  return (
    <div
      className="mx-auto grid w-full min-w-0 grid-cols-1 gap-6"
      style={frameStyle(imageSize(body), outputs.length)}
    >
      <ul className={cn('grid gap-x-2 gap-y-4 sm:gap-x-4', gridColumns(outputs.length))}>
        {outputs.map((src, index) => (
          <ResultImage key={index} result={result} src={src} index={index} />
        ))}
      </ul>
      <Facts result={result} playground={playground} />
    </div>
  );
}

function Facts({ result, playground }: { result: Result; playground: Playground }) {
  const { body, identity, requestId, creditsCharged } = result;
  const { width, height } = imageSize(body);
  const facts = [
    identity.name,
    `${width} × ${height}`,
    ...usedReferences(result),
    timeTaken(result),
    `${formatCredits(creditsCharged)} charged`,
  ];
  return (
    <div className="grid gap-4 border-t border-border pt-4">
      <div className="grid min-w-0 gap-1">
        <p className="line-clamp-3 text-pretty break-words">{body.prompt}</p>
        <ul className="flex flex-wrap gap-x-4 text-xs leading-5 text-muted-foreground tabular-nums">
          {facts.map((fact) => (
            <li key={fact}>{fact}</li>
          ))}
        </ul>
      </div>
      <div className="flex flex-wrap gap-2">
        <Button variant="outline" size="sm" asChild>
          <Link to={`/history/${requestId}`}>
            <History aria-hidden />
            Open in history
          </Link>
        </Button>
        <Button variant="outline" size="sm" onClick={() => reuse(result, playground)}>
          <RotateCcw aria-hidden />
          Use these settings
        </Button>
      </div>
    </div>
  );
}

function usedReferences({ body, references }: Result): string[] {
  if (references.length === 0) return [];
  const exact = body.referenceMode === 'exact_product';
  return [formatCount(references.length, exact ? 'exact product image' : 'reference image')];
}

function reuse(result: Result, { license, identities, change, uploadTo }: Playground): void {
  const { body, seed, identity, references } = result;
  const tier = fitToTier(fromBody(body, seed), license);
  const { values, notes } = fitToIdentities(tier.values, identities, identity.name);
  change(values);
  const chosen = identities.find(({ id }) => id === values.identityId);
  if (chosen?.productPhotos) referenceStore.replace(references, uploadTo);
  toast('The form has these settings again, with their seed.', {
    description: [...notes, ...tier.notes].join(' ') || undefined,
  });
}
