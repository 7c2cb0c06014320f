import { Loading } from '@/components/loading.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { newestCount } from './use-newest-images.ts';

export function TopSkeleton() {
  return (
    <Loading label="Loading your usage" className="gap-6 lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
      <Card className="grid content-start gap-4">
        <Skeleton className="h-6 w-20" />
        <Skeleton className="h-8 w-56" />
        <Skeleton className="h-2 rounded-full" />
        <div className="mt-2 grid grid-cols-2 gap-x-4 gap-y-6">
          {[0, 1, 2, 3].map((index) => (
            <Skeleton key={index} className="h-20" />
          ))}
        </div>
      </Card>
      <Card className="flex flex-col gap-4">
        <Skeleton className="h-12 w-36" />
        <Skeleton className="min-h-56 flex-1" />
      </Card>
    </Loading>
  );
}

export function NewestSkeleton() {
  return (
    <Loading
      label="Loading your newest images"
      className="grid-cols-2 gap-x-2 gap-y-4 sm:gap-x-4 md:grid-cols-4"
    >
      {Array.from({ length: newestCount }, (_, index) => (
        <div key={index}>
          <Skeleton className="aspect-square" />
          <Skeleton className="mt-2 h-5 w-2/3" />
        </div>
      ))}
    </Loading>
  );
}

export function BreakdownSkeleton() {
  return (
    <Loading label="Loading your usage by identity and type" className="gap-6 lg:grid-cols-2">
      {['identity', 'type'].map((name) => (
        <Card key={name} className="grid gap-4">
          <Skeleton className="h-6 w-28" />
          {[0, 1, 2].map((index) => (
            <Skeleton key={index} className="h-8" />
          ))}
        </Card>
      ))}
    </Loading>
  );
}
