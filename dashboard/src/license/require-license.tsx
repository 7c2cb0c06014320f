import { TicketX } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState, ErrorState } from '@/components/states.tsx';
import { ScreenSkeleton } from '@/components/loading.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicenseChoice } from './license-choice.ts';

/** Renders a screen once there is a license. `title` is the heading of what is shown instead. */
export function RequireLicense({ title, children }: { title: string; children: ReactNode }) {
  const { license, query } = useLicenseChoice();
  if (license !== null) return children;
  if (query.isPending) return <ScreenSkeleton />;
  return (
    <Page title={title}>
      {query.error === null ? (
        <EmptyState icon={TicketX} title="Your account has no license yet">
          It is made when your subscription starts. If you have subscribed, wait a minute and reload this
          page; otherwise ask whoever manages your subscription.
        </EmptyState>
      ) : (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} retrying={query.isFetching} />
      )}
    </Page>
  );
}
