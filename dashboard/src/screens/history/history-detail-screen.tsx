import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';

export default function HistoryDetailScreen() {
  return (
    <Page title="Request" description="What was asked for, and what came of it.">
      <Loading className="gap-6">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </Loading>
    </Page>
  );
}
