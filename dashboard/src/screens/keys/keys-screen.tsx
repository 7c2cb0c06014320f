import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { Page } from '@/layout/page.tsx';

export default function KeysScreen() {
  return (
    <Page title="Keys" description="Keys let your programs call the API.">
      <Loading className="gap-6">
        <Skeleton className="h-32" />
        <Skeleton className="h-64" />
      </Loading>
    </Page>
  );
}
