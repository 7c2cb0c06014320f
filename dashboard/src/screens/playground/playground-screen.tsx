import { Images } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useNavigate, useParams, useSearchParams } from 'react-router';
import { useGeneration, useIdentities } from '@/api/queries.ts';
import type { IdentityAnswer } from '@/lib/types.ts';
import { CopyAsMenu } from '@/components/copy-as-menu.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { EmptyState, ErrorState, ManagerLinks, QueryError } from '@/components/states.tsx';
import { useSampleAddresses } from '@/lib/config.ts';
import { Page } from '@/layout/page.tsx';
import { codeSamples, uploadsNote } from '@/lib/code-samples.ts';
import { useNow } from '@/lib/use-now.ts';
import { useLicense } from '@/license/license-choice.ts';
import { LicenseNotice } from '@/license/license-notice.tsx';
import { toSampleBody } from './form-values.ts';
import { PrefillNotice, ReferenceNotice } from './notices.tsx';
import { PlaygroundForm } from './playground-form.tsx';
import { ResultPanel, type ShownRun } from './result-panel.tsx';
import { toSampleReferences } from './references/reference.ts';
import { runStore, useReferences } from './stores.ts';
import { runPath, useWatchedRuns } from './use-start-run.ts';
import { useAddress, useAsReference, usePrefill } from './use-prefill.ts';
import { PlaygroundContext, usePlaygroundState } from './use-playground.ts';

const page = {
  title: 'Playground',
  description: 'Try a prompt, and take what works into your code.',
  wide: true,
};
const columns =
  'grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-[22rem_minmax(0,1fr)] lg:items-start lg:gap-8 xl:grid-cols-[25rem_minmax(0,1fr)]';

export default function PlaygroundScreen() {
  const license = useLicense();
  const query = useIdentities(license.licenseId);
  const { data: identities, error } = query;
  const { pending, ...prefill } = usePrefill(license, identities);
  const asReference = useAsReference(license, identities);
  useAddress(license, identities);
  if (identities === undefined || identities.length === 0 || pending) {
    const failed = identities === undefined && error !== null;
    return (
      <Page {...page}>
        {failed && <QueryError query={query} />}
        {!failed && (identities === undefined || pending) && <ScreenLoading />}
        {!pending && identities?.length === 0 && (
          <EmptyState icon={Images} title="Your license covers no identity yet" action={<ManagerLinks />}>
            Images are made with an identity. Ask whoever manages your subscription to add one.
          </EmptyState>
        )}
      </Page>
    );
  }
  return (
    <Filled identities={identities}>
      {!license.usable && <LicenseNotice />}
      {prefill.error !== null && <ErrorState error={prefill.error} onRetry={prefill.retry} />}
      {prefill.notice !== null && <PrefillNotice notice={prefill.notice} onDismiss={prefill.dismiss} />}
      <ReferenceNotice {...asReference} />
    </Filled>
  );
}

function Filled({ identities, children }: { identities: IdentityAnswer[]; children: React.ReactNode }) {
  const license = useLicense();
  const playground = usePlaygroundState(license, identities);
  const { values, errors, identity } = playground;
  const addresses = useSampleAddresses();
  const shown = useShownRun();
  const usedSeed = useGeneration(shown.requestId).data?.seed ?? null;
  const { items } = useReferences();
  const nowMs = useNow();
  const references = identity?.productPhotos ? toSampleReferences(items, license.licenseId, nowMs) : [];
  const body = toSampleBody(values, usedSeed, references.length > 0 ? references : null);
  const incomplete = Object.keys(errors).length > 0;
  return (
    <Page
      {...page}
      actions={
        <CopyAsMenu
          samples={codeSamples({ ...addresses, body })}
          note={references.some((item) => 'uploadId' in item) ? uploadsNote : undefined}
          disabled={incomplete}
          title={incomplete ? 'Complete the form first' : undefined}
        />
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the shortcut of every field inside. */}
      <div
        className="grid min-w-0 grid-cols-1 gap-6 pb-20 short:pb-0 lg:pb-0"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return;
          event.preventDefault();
          playground.submit();
        }}
      >
        <div className="grid grid-cols-1 gap-4 empty:hidden">{children}</div>
        <div className={columns}>
          <PlaygroundContext value={playground}>
            <PlaygroundForm usedSeed={usedSeed} />
            <ResultPanel shown={shown} />
          </PlaygroundContext>
        </div>
      </div>
    </Page>
  );
}

/** The run of the address. Without one, the address becomes that of the run that was shown last. */
function useShownRun(): ShownRun {
  const { requestId = null } = useParams();
  const [parameters] = useSearchParams();
  const navigate = useNavigate();
  const [offered, setOffered] = useState<string | null>(null);
  const isFilling = parameters.has('from') || parameters.has('reference');
  useWatchedRuns();
  useEffect(() => {
    const { shownId } = runStore.state();
    if (requestId !== null || isFilling || shownId === null) return;
    setOffered(shownId);
    void navigate(runPath(shownId), { replace: true });
  }, [requestId, isFilling, navigate]);
  return { requestId, isOffered: requestId === offered };
}

function ScreenLoading() {
  return (
    <Loading label="Loading the playground" className={columns}>
      <div className="grid gap-6 rounded-lg border border-border bg-card p-4 sm:p-6">
        <Skeleton className="h-20" />
        <Skeleton className="h-36" />
        <Skeleton className="h-64" />
        <Skeleton className="h-16" />
      </div>
      <Skeleton className="aspect-square max-h-[calc(100dvh-17rem)] w-full" />
    </Loading>
  );
}
