import { RotateCw, Sparkles } from 'lucide-react';
import { Link } from 'react-router';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { formatUtcDate, formatUtcDay } from '@/lib/format.ts';
import { useLicense } from '@/license/license-context.tsx';
import { LicenseNotice } from './license-notice.tsx';
import { NewestImages } from './newest-images.tsx';
import { UsagePart } from './usage-part.tsx';
import { useNewestImages } from './use-newest-images.ts';
import { useRefresh } from './use-refresh.ts';

export default function OverviewScreen() {
  const license = useLicense();
  const { billingPeriodStart, billingPeriodEnd } = license;
  return (
    <Page
      title="Overview"
      description={`Billing period ${formatUtcDay(billingPeriodStart)} to ${formatUtcDate(billingPeriodEnd)}`}
      actions={<Actions licenseId={license.licenseId} usable={license.usable} />}
    >
      {/* Another license starts afresh: which day is read out, which rows are unfolded. */}
      <Content key={license.licenseId} />
    </Page>
  );
}

function Content() {
  const license = useLicense();
  const images = useNewestImages(license.licenseId);
  return (
    <div className="grid min-w-0 grid-cols-1 gap-8">
      <LicenseNotice license={license} />
      <UsagePart license={license}>
        <NewestImages images={images} />
      </UsagePart>
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
