import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';

export default function HistoryScreen() {
  return (
    <Page title="History" description="Every request of this license, newest first.">
      <Loading className="gap-6">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </Loading>
    </Page>
  );
}
