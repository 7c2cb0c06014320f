import { lazy, Suspense } from 'react';
import { toast } from 'sonner';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { ErrorBoundary } from '@/layout/error-boundary.tsx';
import { formatCount } from '@/lib/format.ts';
import { Loading } from '@/components/loading.tsx';
import { sendable } from './references/reference.ts';
import { useDrops } from './references/use-drops.ts';
import { useReferences } from './stores.ts';
import type { Playground } from './use-playground.ts';

// Most visits choose an identity that takes none.
const ReferencesSection = lazy(() => import('./references/references-section.tsx'));

/** Reference images, for identities that take some. */
export function ReferencesPart({ playground }: { playground: Playground }) {
  const { identity } = playground;
  if (identity === undefined) return null;
  if (!identity.productPhotos) return <NoReferences playground={playground} name={identity.name} />;
  return (
    <ErrorBoundary fallback={<Note>Reference images could not be loaded. Reload the page to add some.</Note>}>
      <Suspense fallback={<SectionLoading />}>
        <ReferencesSection playground={playground} />
      </Suspense>
    </ErrorBoundary>
  );
}

function NoReferences({ playground, name }: { playground: Playground; name: string }) {
  const { identities } = playground;
  const kept = sendable(useReferences().items).length;
  const others = identities.filter(({ productPhotos, available }) => productPhotos && available);
  const sentence = `${name} takes no reference images`;
  // Without this the browser would open the file in place of the page.
  useDrops(() => void toast(`${sentence}.`));
  return (
    <Note>
      {sentence}
      {others.length > 0 &&
        `; ${listOf(others.map((other) => other.name))} ${others.length > 1 ? 'do' : 'does'}`}
      .{kept > 0 && ` Your ${formatCount(kept, 'image')} ${kept === 1 ? 'is' : 'are'} kept until then.`}
    </Note>
  );
}

function listOf(names: string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
}

function Note({ children }: { children: React.ReactNode }) {
  return <p className="text-xs leading-5 text-pretty text-muted-foreground">{children}</p>;
}

function SectionLoading() {
  return (
    <Loading label="Loading reference images" className="grid gap-4">
      <Skeleton className="h-24" />
      <Skeleton className="h-10" />
      <Skeleton className="h-20" />
    </Loading>
  );
}
