import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';

export default function OverviewScreen() {
  return (
    <Page title="Overview" description="How this billing period stands.">
      <Loading className="gap-6">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </Loading>
    </Page>
  );
}
