import { TicketX } from 'lucide-react';
import type { ReactNode } from 'react';
import { EmptyState } from '@/components/empty-state.tsx';
import { ErrorState } from '@/components/error-state.tsx';
import { ScreenSkeleton } from '@/layout/screen-skeleton.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicenseChoice } from './license-context.tsx';

/** Lets a screen assume a license; `title` is the screen's, for what is shown instead of it. */
export function RequireLicense({ title, children }: { title: string; children: ReactNode }) {
  const { license, pending, error, retry, retrying } = useLicenseChoice();
  if (license !== null) return children;
  if (pending) return <ScreenSkeleton />;
  return (
    <Page title={title}>
      {error === null ? (
        <EmptyState icon={TicketX} title="Your account has no license yet">
          It is made when your subscription starts. If you have subscribed, wait a minute and reload this
          page; otherwise ask whoever manages your subscription.
        </EmptyState>
      ) : (
        <ErrorState error={error} onRetry={retry} retrying={retrying} />
      )}
    </Page>
  );
}
