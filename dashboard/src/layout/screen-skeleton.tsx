import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';

/** While a screen's code is on its way. */
export function ScreenSkeleton() {
  return (
    <Loading className="mx-auto w-full max-w-6xl gap-6">
      <Skeleton className="h-8 w-48" />
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-3">
        <Skeleton className="h-32" />
        <Skeleton className="h-32" />
        <Skeleton className="hidden h-32 lg:block" />
      </div>
      <Skeleton className="h-64" />
    </Loading>
  );
}
