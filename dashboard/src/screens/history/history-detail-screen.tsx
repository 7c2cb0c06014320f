import { Info, Sparkles } from 'lucide-react';
import type { ReactNode } from 'react';
import { useParams } from 'react-router';
import { toast } from 'sonner';
import { isFinal, useGeneration } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { CancelButton } from '@/components/cancel-button.tsx';
import { CopyAsMenu } from '@/components/copy-as-menu.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { Loaded, MissingRequest, QueryError } from '@/components/states.tsx';
import { stateOf, statusLabel } from '@/components/status-badge.tsx';
import { Made } from '@/components/time.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { useSampleAddresses } from '@/lib/config.ts';
import { Page } from '@/layout/page.tsx';
import { codeSamples } from '@/lib/code-samples.ts';
import { shorten } from '@/lib/text.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { BackToList, Neighbours } from './back-to-list.tsx';
import { DeleteThisButton } from './request-actions.tsx';
import { OutputPlaceholder } from './output-placeholder.tsx';
import { OutputViewer } from './output-viewer.tsx';
import { RequestDetails } from './request-details.tsx';
import { sampleBody } from './request-view.ts';

export default function HistoryDetailScreen() {
  const { requestId = '' } = useParams();
  const query = useGeneration(requestId);
  const renew = async (): Promise<StoredGeneration> => {
    const { data, error } = await query.refetch();
    if (error !== null) toast.error(error.message);
    return data ?? query.data!;
  };
  return (
    <Frame generation={query.data}>
      <Loaded
        query={query}
        skeleton={<DetailSkeleton />}
        missing={<MissingRequest title="There is no request with this id" />}
      >
        {(generation) => (
          <>
            {query.error !== null && <QueryError query={query} className="mb-6" />}
            <Detail generation={generation} renew={renew} />
          </>
        )}
      </Loaded>
    </Frame>
  );
}

/** The page around every state. It has a description and buttons once the request is loaded. */
function Frame({ generation, children }: { generation: StoredGeneration | undefined; children: ReactNode }) {
  return (
    <>
      <div className="mx-auto mb-2 flex h-8 w-full max-w-[100rem] items-center justify-between gap-4">
        <BackToList />
        {generation && <Neighbours generation={generation} />}
      </div>
      <Page
        wide
        title={generation === undefined ? 'Request' : shorten(generation.prompt, 72)}
        {...(generation && {
          description: <Made generation={generation} />,
          actions: <RequestActions generation={generation} />,
        })}
      >
        {children}
      </Page>
    </>
  );
}

const referencesNote =
  'Reference images are deleted when their request ends: put the addresses of yours in, or uploads.';

function RequestActions({ generation }: { generation: StoredGeneration }) {
  const addresses = useSampleAddresses();
  const samples = codeSamples({ ...addresses, body: sampleBody(generation) });
  return (
    <>
      {isFinal(generation.status) ? (
        <DeleteThisButton key={generation.id} generation={generation} />
      ) : (
        <CancelButton key={generation.id} requestId={generation.id} className="h-10 px-4" />
      )}
      <CopyAsMenu samples={samples} note={generation.type === 'text_to_image' ? undefined : referencesNote} />
      <LinkButton to={`/playground?from=${encodeURIComponent(generation.id)}`} icon={Sparkles}>
        Use again
      </LinkButton>
    </>
  );
}

interface DetailProps {
  generation: StoredGeneration;
  /** Fetches the request anew, with new links. */
  renew: () => Promise<StoredGeneration>;
}

function Detail({ generation, renew }: DetailProps) {
  const { id, status } = generation;
  return (
    <>
      <p role="status" className="sr-only">
        {isFinal(status)
          ? statusLabel(stateOf(generation))
          : `${statusLabel(status)}. This page updates by itself.`}
      </p>
      <OtherLicense licenseId={generation.licenseId} />
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem] lg:gap-8 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <section aria-label="Images" className="min-w-0 lg:sticky lg:top-10">
          {generation.outputs.length > 0 ? (
            <OutputViewer key={id} generation={generation} renew={renew} />
          ) : (
            <OutputPlaceholder generation={generation} />
          )}
        </section>
        <RequestDetails key={id} generation={generation} />
      </div>
    </>
  );
}

function DetailSkeleton() {
  return (
    <Loading label="Loading the request" className="lg:grid-cols-[minmax(0,1fr)_22rem] lg:gap-8">
      <Skeleton className="aspect-square max-h-[72dvh] w-full" />
      <div className="grid content-start gap-4">
        <Skeleton className="h-24" />
        <Skeleton className="h-96" />
      </div>
    </Loading>
  );
}

/** Says that a request belongs to a license that is not selected. */
function OtherLicense({ licenseId }: { licenseId: string }) {
  const { license, licenses, select } = useLicenseChoice();
  const own = licenses.find((item) => item.licenseId === licenseId);
  if (own === undefined || license?.licenseId === licenseId) return null;
  const { name } = own;
  const choose = (): void => {
    select(licenseId);
    // The button that was pressed goes away with the notice.
    document.querySelector('h1')?.focus();
  };
  return (
    <Alert
      className="mb-6"
      icon={Info}
      title={
        <>
          This request belongs to another license: “<bdi>{name}</bdi>”
        </>
      }
    >
      <p className="text-muted-foreground">Using it again charges the license that is selected.</p>
      <Button variant="outline" size="sm" className="mt-2 w-fit" onClick={choose}>
        Select “<bdi>{name}</bdi>”
      </Button>
    </Alert>
  );
}
