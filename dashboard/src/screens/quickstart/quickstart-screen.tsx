import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';

export default function QuickstartScreen() {
  return (
    <Page title="Quickstart" description="From a key to a first image in three steps.">
      <Loading className="gap-6">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </Loading>
    </Page>
  );
}
