import { useQueryClient } from '@tanstack/react-query';
import { CalendarClock, CirclePause, RotateCw, Sparkles } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'react-router';
import type { LicenseAnswer } from '@/api/types.ts';
import { Alert } from '@/components/ui/alert.tsx';
import { Button } from '@/components/ui/button.tsx';
import { useRetention } from '@/config.ts';
import { Page } from '@/layout/page.tsx';
import { formatUtcDate, formatUtcDay } from '@/lib/format.ts';
import { isEnded } from '@/license/license-badge.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { licenseMessage } from './license-message.ts';
import { NewestImages, useNewestImages } from './newest-images.tsx';
import { OpenRequests } from './open-requests.tsx';
import { UsageSection } from './usage-section.tsx';

export default function OverviewScreen() {
  const license = useLicense();
  return (
    <Page
      title="Overview"
      description={describePeriod(license)}
      actions={<Actions licenseId={license.licenseId} usable={license.usable} />}
    >
      {/* Keyed, so that the chosen day and the unfolded rows are reset for another license. */}
      <Content key={license.licenseId} />
    </Page>
  );
}

function describePeriod(license: LicenseAnswer): string {
  const { billingPeriodStart, billingPeriodEnd, activeUntil } = license;
  if (!isEnded(license)) {
    return `Billing period ${formatUtcDay(billingPeriodStart)} to ${formatUtcDate(billingPeriodEnd)}`;
  }
  return activeUntil === null
    ? 'This license has ended'
    : `This license ended on ${formatUtcDate(activeUntil)}`;
}

function Content() {
  const license = useLicense();
  const images = useNewestImages(license.licenseId);
  return (
    <div className="grid min-w-0 grid-cols-1 gap-8">
      <LicenseNotice license={license} />
      <UsageSection license={license}>
        <OpenRequests licenseId={license.licenseId} />
        <NewestImages images={images} />
      </UsageSection>
    </div>
  );
}

function Actions({ licenseId, usable }: { licenseId: string; usable: boolean }) {
  const { refresh, refreshing, outcome } = useRefresh(licenseId);
  return (
    <>
      <span role="status" className="sr-only">
        {outcome}
      </span>
      <Button variant="outline" onClick={() => void refresh()} pending={refreshing}>
        {!refreshing && <RotateCw aria-hidden />}
        Refresh
      </Button>
      {usable && (
        <Button asChild>
          <Link to="/playground">
            <Sparkles aria-hidden />
            New image
          </Link>
        </Button>
      )}
    </>
  );
}

/** Fetches what the screen shows once more, when somebody asks for it. */
function useRefresh(licenseId: string) {
  const queries = useQueryClient();
  const [refreshing, setRefreshing] = useState(false);
  const [outcome, setOutcome] = useState('');
  const refresh = async (): Promise<void> => {
    setRefreshing(true);
    setOutcome('');
    const keys = [['usage', licenseId], ['generations', licenseId], ['licenses']];
    await Promise.all(keys.map((queryKey) => queries.refetchQueries({ queryKey, type: 'active' })));
    const failed = keys.some((queryKey) =>
      queries
        .getQueryCache()
        .findAll({ queryKey, type: 'active' })
        .some(({ state }) => state.status === 'error'),
    );
    // A part that failed shows its own error.
    setOutcome(failed ? '' : 'The overview is up to date.');
    setRefreshing(false);
  };
  return { refresh, refreshing, outcome };
}

/** Explains an ended or suspended license. Renders nothing for other licenses. */
function LicenseNotice({ license }: { license: LicenseAnswer }) {
  const message = licenseMessage(license, useRetention());
  if (message === null) return null;
  return (
    <Alert
      variant={license.status === 'past_due' ? 'warning' : 'default'}
      icon={license.usable ? CalendarClock : CirclePause}
      title={message.title}
    >
      <p className="max-w-3xl text-pretty">{message.text}</p>
    </Alert>
  );
}
