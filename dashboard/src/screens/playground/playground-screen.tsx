import { Images } from 'lucide-react';
import { useMemo } from 'react';
import { useIdentities } from '@/api/queries.ts';
import type { IdentityAnswer } from '@/api/types.ts';
import { CopyAsMenu } from '@/components/copy-as-menu.tsx';
import { EmptyState } from '@/components/empty-state.tsx';
import { ErrorState } from '@/components/error-state.tsx';
import { Loading } from '@/components/loading.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { useConfig } from '@/config-context.ts';
import { Page } from '@/layout/page.tsx';
import { codeSamples, uploadsNote } from '@/lib/code-samples.ts';
import { useLicense } from '@/license/license-context.tsx';
import { toSampleBody } from './form-values.ts';
import { LicenseNotice, PrefillNotice } from './notices.tsx';
import { PlaygroundForm } from './playground-form.tsx';
import { ResultPanel } from './result-panel.tsx';
import { toSampleReferences } from './references/reference.ts';
import { useReferences, useRunState } from './stores.ts';
import { usePlayground, type Playground } from './use-playground.ts';
import { usePrefill } from './use-prefill.ts';

const title = 'Playground';
const description = 'Try a prompt, and take what works into your code.';
const columns =
  'grid min-w-0 grid-cols-1 gap-6 lg:grid-cols-[22rem_minmax(0,1fr)] lg:items-start lg:gap-8 xl:grid-cols-[25rem_minmax(0,1fr)]';

export default function PlaygroundScreen() {
  const license = useLicense();
  const { data: identities, error, refetch, isFetching } = useIdentities(license.licenseId);
  const { pending, ...prefill } = usePrefill(license, identities);
  if (identities === undefined && error !== null) {
    return (
      <Page title={title} description={description} wide>
        <ErrorState error={error} onRetry={() => void refetch()} retrying={isFetching} />
      </Page>
    );
  }
  if (identities === undefined || pending) {
    return (
      <Page title={title} description={description} wide>
        <ScreenLoading />
      </Page>
    );
  }
  if (identities.length === 0) {
    return (
      <Page title={title} description={description} wide>
        <EmptyState icon={Images} title="Your license covers no identity yet">
          Images are made with an identity. Ask whoever manages your subscription to add one.
        </EmptyState>
      </Page>
    );
  }
  return (
    <Filled identities={identities}>
      <LicenseNotice license={license} />
      {prefill.error !== null && <ErrorState error={prefill.error} onRetry={prefill.retry} />}
      {prefill.notice !== null && <PrefillNotice notice={prefill.notice} onDismiss={prefill.dismiss} />}
    </Filled>
  );
}

function Filled({ identities, children }: { identities: IdentityAnswer[]; children: React.ReactNode }) {
  const license = useLicense();
  const playground = usePlayground(license, identities);
  const { values, errors } = playground;
  const { apiBaseUrl } = useConfig();
  const { results, shownId } = useRunState();
  const usedSeed = results.find(({ requestId }) => requestId === shownId)?.seed ?? null;
  const references = useSampleReferences(playground);
  const samples = useMemo(
    () => codeSamples({ apiBaseUrl, body: toSampleBody(values, usedSeed, references) }),
    [apiBaseUrl, values, usedSeed, references],
  );
  const incomplete = Object.keys(errors).length > 0;
  return (
    <Page
      title={title}
      description={description}
      wide
      actions={
        <CopyAsMenu
          samples={samples}
          note={references?.some((item) => 'uploadId' in item) ? uploadsNote : undefined}
          disabled={incomplete}
          title={incomplete ? 'Complete the form first' : undefined}
        />
      }
    >
      <div
        className="grid min-w-0 grid-cols-1 gap-6 pb-20 lg:pb-0"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return;
          event.preventDefault();
          playground.submit();
        }}
      >
        <div className="grid grid-cols-1 gap-4 empty:hidden">{children}</div>
        <div className={columns}>
          <PlaygroundForm playground={playground} usedSeed={usedSeed} />
          <ResultPanel playground={playground} />
        </div>
      </div>
    </Page>
  );
}

/** Null when the request has none. */
function useSampleReferences({ identity, license: { licenseId } }: Playground) {
  const { items } = useReferences();
  return useMemo(() => {
    const references = identity?.productPhotos ? toSampleReferences(items, licenseId, Date.now()) : [];
    return references.length > 0 ? references : null;
  }, [identity, items, licenseId]);
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
