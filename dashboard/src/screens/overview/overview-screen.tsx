import { Sparkles, ArrowRight } from 'lucide-react';
import { useState, useEffect, useId } from 'react';
import { Link } from 'react-router';
import type { LicenseAnswer, StoredGeneration } from '@/lib/types.ts';
import { LinkButton } from '@/components/ui/button.tsx';
import { RefreshButton } from '@/components/refresh-button.tsx';
import { Page } from '@/layout/page.tsx';
import { formatUtcDate, formatUtcDay, formatCount } from '@/lib/format.ts';
import { isEnded } from '@/license/license-badge.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { LicenseNotice } from '@/license/license-notice.tsx';
import { isFinal, useGeneration, useGenerations, useRefreshAfterGeneration } from '@/api/queries.ts';
import { StatusBadge } from '@/components/status-badge.tsx';
import { Made, Time } from '@/components/time.tsx';
import { CardTitle } from '@/components/ui/card.tsx';
import { SignedImage } from '@/components/pictures.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { Loaded } from '@/components/states.tsx';
import { thumbnailOf } from '@/lib/outputs.ts';
import { Packs } from './packs.tsx';
import { UsageSection } from './usage-section.tsx';

export default function OverviewScreen() {
  const license = useLicense();
  return (
    <Page
      title="Overview"
      description={describePeriod(license)}
      actions={
        <>
          <RefreshButton licenseId={license.licenseId} />
          {license.usable && (
            <LinkButton to="/playground" icon={Sparkles}>
              New image
            </LinkButton>
          )}
        </>
      }
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
  return (
    <div className="grid min-w-0 grid-cols-1 gap-8">
      <LicenseNotice />
      <UsageSection license={license}>
        <Packs license={license} />
        <OpenRequests licenseId={license.licenseId} />
        <NewestImages licenseId={license.licenseId} />
      </UsageSection>
    </div>
  );
}

/** The license's newest requests that wait or are being made. Renders nothing while there is none. */
function OpenRequests({ licenseId }: { licenseId: string }) {
  // The same list as the history's. Its requests are followed one by one.
  const { data } = useGenerations(licenseId);
  const open = data?.filter(({ status }) => !isFinal(status)) ?? [];
  const titleId = useId();
  if (open.length === 0) return null;
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-2">
      <CardTitle id={titleId}>In progress</CardTitle>
      <ul className="divide-y divide-border rounded-lg border border-border bg-card">
        {open.map((generation) => (
          <li key={generation.id}>
            <OpenRequest listed={generation} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OpenRequest({ listed }: { listed: StoredGeneration }) {
  const { data = listed } = useGeneration(listed.id);
  const refresh = useRefreshAfterGeneration();
  const { id, licenseId, status, prompt } = data;
  const hasEnded = isFinal(status);
  useEffect(() => {
    // It leaves this list, and its images and credits are shown.
    if (hasEnded) void refresh(licenseId);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `refresh` is another function each time.
  }, [hasEnded, licenseId]);
  return (
    <Link
      to={`/history/${encodeURIComponent(id)}`}
      className="group grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-3 px-4 py-2 sm:grid-cols-[8rem_minmax(0,1fr)_auto]"
    >
      <StatusBadge status={status} className="w-fit" />
      <span dir="auto" className="truncate group-hover:underline">
        {prompt}
      </span>
      <span className="col-start-2 text-xs leading-5 text-muted-foreground sm:col-start-auto">
        <Made generation={data} />
      </span>
    </Link>
  );
}

const newestCount = 8;

/** How many pages are searched for images. Most requests of a page may have failed. */
const mostPages = 4;

/** The newest completed generations of a license that have an image, at most `newestCount`. */
function useNewestImages(licenseId: string) {
  const query = useGenerations(licenseId, { status: 'COMPLETED' }, newestCount);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const generations = data?.filter(({ outputs }) => outputs.length > 0).slice(0, newestCount);
  const [pages, setPages] = useState(1);
  const tooFew = generations !== undefined && generations.length < newestCount;
  const goOn = tooFew && pages < mostPages && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (!goOn) return;
    setPages((count) => count + 1);
    void fetchNextPage();
  }, [goOn, fetchNextPage]);
  // There may be images on the next page.
  const searching = generations?.length === 0 && (goOn || isFetching);
  return { ...query, data: searching ? undefined : generations };
}

/** The newest completed images. Renders nothing for a license that has none. */
function NewestImages({ licenseId }: { licenseId: string }) {
  const query = useNewestImages(licenseId);
  const titleId = useId();
  if (query.data?.length === 0 && query.error === null) return null;
  return (
    <section aria-labelledby={titleId} className="grid min-w-0 grid-cols-1 gap-4">
      <div className="flex items-center justify-between gap-4">
        <CardTitle id={titleId}>Newest images</CardTitle>
        <LinkButton variant="ghost" size="sm" className="-mr-3" to="/history">
          All history
          <ArrowRight aria-hidden />
        </LinkButton>
      </div>
      <Loaded query={query} skeleton={<NewestSkeleton />} stale="These images">
        {(generations) => (
          <ul className="grid grid-cols-2 gap-x-2 gap-y-4 empty:hidden sm:gap-x-4 md:grid-cols-4">
            {generations.map((generation) => (
              <li key={generation.id} className="min-w-0">
                <Tile generation={generation} />
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </section>
  );
}

function Tile({ generation }: { generation: StoredGeneration }) {
  const { id, prompt, outputs, identity, completedAt, createdAt } = generation;
  const at = completedAt ?? createdAt;
  return (
    <Link to={`/history/${encodeURIComponent(id)}`} className="group block rounded-md">
      <span className="relative block overflow-hidden rounded-md">
        {/* All tiles are square. A click shows the whole image. */}
        <SignedImage eager src={thumbnailOf(generation, 0)} alt={prompt} width={512} height={512} />
        {outputs.length > 1 && (
          <span className="absolute right-2 bottom-2 rounded-full bg-background px-2 text-xs leading-6 font-medium">
            {formatCount(outputs.length, 'image')}
          </span>
        )}
      </span>
      <span className="mt-2 flex flex-wrap justify-between gap-x-2 text-xs leading-5">
        <span dir="auto" className="font-medium group-hover:underline">
          {identity.name}
        </span>
        <Time iso={at} relative className="text-muted-foreground" />
      </span>
    </Link>
  );
}

function NewestSkeleton() {
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
