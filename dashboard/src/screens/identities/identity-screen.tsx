import { CircleSlash, Images, Sparkles, Image } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link, useParams } from 'react-router';
import { ApiError } from '@/api/api-error.ts';
import { useIdentity } from '@/api/queries.ts';
import type { IdentityAnswer, IdentityDetail } from '@/lib/types.ts';
import { Loading } from '@/components/loading.tsx';
import { Loaded } from '@/components/states.tsx';
import { Alert } from '@/components/ui/alert.tsx';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { Card, CardTitle } from '@/components/ui/card.tsx';
import { useSampleAddresses } from '@/lib/config.ts';
import { BackLink, Page } from '@/layout/page.tsx';
import { codeSamples, defaultPrompt } from '@/lib/code-samples.ts';
import { useLicenseChoice } from '@/license/license-choice.ts';
import { CodeTabs } from '@/components/code.tsx';
import { LargeImage, ThumbnailStrip } from '@/components/pictures.tsx';
import { FactsCard } from './facts-card.tsx';
import { IdentityBadges } from './identity-badges.tsx';
import { licensesWith, playgroundAddress, sampleText } from './included.ts';
import { VersionsCard } from './versions-card.tsx';

/** The license is another, or nobody may use it any more. */
const notThere = ['IDENTITY_NOT_FOUND', 'IDENTITY_MISMATCH'];

export default function IdentityScreen() {
  const { identityId = '' } = useParams();
  const query = useIdentity(identityId);
  const { data, error, refetch } = query;
  if (data !== undefined) return <IdentityPage key={data.id} identity={data} renew={() => void refetch()} />;
  if (error instanceof ApiError && notThere.includes(error.code))
    return <UnknownIdentity why={error.message} />;
  const skeleton = <Loading label="Loading the identity" bars={['aspect-4/3 max-h-[70dvh]']} />;
  return (
    <Page title="Identity">
      <Loaded query={query} skeleton={skeleton} />
    </Page>
  );
}

function UnknownIdentity({ why }: { why: string }) {
  return (
    <Page title="There is no such identity" description={why}>
      <LinkButton to="/identities">Show all identities</LinkButton>
    </Page>
  );
}

function IdentityPage({ identity, renew }: { identity: IdentityDetail; renew: () => void }) {
  const { license, licenses } = useLicenseChoice();
  const [chosen, setChosen] = useState<number | null>(null);
  const including = licensesWith(identity, licenses);
  const isIncluded = including.some(({ licenseId }) => licenseId === license?.licenseId);
  // The active version's, until another's are asked for.
  const other = identity.versions.find(({ version, active }) => version === chosen && !active);
  const shown = other?.version ?? identity.version;
  const viewer = useRef<HTMLDivElement>(null);
  const show = (version: number): void => {
    setChosen(version);
    // What was pressed is far below.
    viewer.current?.focus({ preventScroll: true });
    viewer.current?.scrollIntoView({ block: 'start' });
  };
  return (
    <>
      <BackLink to="/identities">Identities</BackLink>
      <Page title={identity.name} description={identity.description} wide>
        <div className="grid grid-cols-1 gap-6 xl:grid-cols-[minmax(0,1fr)_26rem]">
          <div
            ref={viewer}
            tabIndex={-1}
            role="region"
            aria-label="Samples"
            className="scroll-mt-20 lg:scroll-mt-10"
          >
            <SampleViewer
              key={shown}
              identity={{ ...identity, ...(other && { samples: other.samples }) }}
              version={other?.version ?? null}
              renew={renew}
            />
          </div>
          <div className="grid grid-cols-1 content-start gap-6">
            <UseCard identity={identity} />
            <FactsCard identity={identity} />
          </div>
        </div>
        <VersionsCard
          identity={identity}
          isUsable={identity.available && isIncluded}
          shown={shown}
          onShow={show}
        />
        <CodeSection identity={identity} />
      </Page>
    </>
  );
}

function UseCard({ identity }: { identity: IdentityAnswer }) {
  const { license, licenses, select } = useLicenseChoice();
  const including = licensesWith(identity, licenses);
  const isIncluded = including.some(({ licenseId }) => licenseId === license?.licenseId);
  const [other] = including;
  return (
    <Card title="Use it" aside={<IdentityBadges identity={identity} />}>
      <div className="grid grid-cols-1 gap-4">
        {!identity.available && (
          <Alert icon={CircleSlash} variant="warning" title="It has no active model right now">
            <p>Requests for it are refused and cost nothing. Come back later.</p>
          </Alert>
        )}
        {!isIncluded && other !== undefined && (
          <div className="grid gap-2">
            <p className="text-pretty text-muted-foreground">
              The chosen license does not include it. Another of yours does.
            </p>
            <Button variant="outline" onClick={() => select(other.licenseId)}>
              Choose <bdi>{other.name}</bdi>
            </Button>
          </div>
        )}
        <div className="grid gap-2 sm:max-xl:grid-cols-2">
          {identity.available && isIncluded && (
            <LinkButton to={playgroundAddress(identity.id)} icon={Sparkles}>
              Use in the playground
            </LinkButton>
          )}
          <LinkButton
            variant="outline"
            to={`/history?identity=${encodeURIComponent(identity.id)}`}
            icon={Images}
          >
            Your images with it
          </LinkButton>
        </div>
      </div>
    </Card>
  );
}

function CodeSection({ identity }: { identity: IdentityAnswer }) {
  const addresses = useSampleAddresses();
  const prompt = identity.samples.find((sample) => sample.prompt !== null)?.prompt ?? defaultPrompt;
  const samples = codeSamples({ ...addresses, body: { identityId: identity.id, prompt } });
  return (
    <Card className="mt-6 grid grid-cols-1 gap-4">
      <CardTitle>From your own code</CardTitle>
      <CodeTabs samples={samples} label={`request with ${identity.name}`} />
      <p className="text-xs text-muted-foreground">
        The key comes from <code>IMAGE_API_KEY</code>. The{' '}
        <Link to="/quickstart" className="underline underline-offset-4 hover:decoration-2">
          quickstart
        </Link>{' '}
        shows how to make one.
      </p>
    </Card>
  );
}

interface SampleViewerProps {
  identity: IdentityAnswer;
  /** The one that made the samples; null for the active one. */
  version: number | null;
  renew: () => void;
}

function SampleViewer({ identity, version, renew }: SampleViewerProps) {
  const [shown, setShown] = useState(0);
  const { samples } = identity;
  if (samples.length === 0) return <NoSamples identity={identity} />;
  const index = Math.min(shown, samples.length - 1);
  const sample = samples[index]!;
  const text = sampleText(identity, index);
  return (
    <figure className="grid grid-cols-1 content-start gap-4">
      <LargeImage
        key={index}
        ground="sm:p-3"
        src={sample.url}
        placeholder={sample.thumbnailUrl}
        alt={text}
        width={sample.width}
        height={sample.height}
        onReload={renew}
      />
      <figcaption className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <p dir="auto" className="min-w-0 text-pretty wrap-anywhere text-muted-foreground">
          {version !== null && `Version ${version}: `}
          {text}
        </p>
        {sample.prompt !== null && identity.available && (
          <LinkButton
            variant="outline"
            size="sm"
            to={playgroundAddress(identity.id, { version: version ?? undefined, prompt: sample.prompt })}
            icon={Sparkles}
          >
            Try this prompt
          </LinkButton>
        )}
      </figcaption>
      {samples.length > 1 && <ThumbnailStrip {...stripOf(identity)} index={index} onShow={setShown} />}
    </figure>
  );
}

function stripOf(identity: IdentityAnswer) {
  const pictures = identity.samples.map(({ thumbnailUrl }, i) => ({
    src: thumbnailUrl,
    label: `Show sample ${i + 1}: ${sampleText(identity, i)}`,
  }));
  return { label: `Samples of ${identity.name}`, pictures };
}

function NoSamples({ identity }: Pick<SampleViewerProps, 'identity'>) {
  return (
    <div className="flex aspect-4/3 max-h-96 w-full flex-col items-center justify-center gap-1 rounded-lg bg-muted p-6 text-center">
      <Image aria-hidden strokeWidth={1.5} className="mb-3 size-8 text-muted-foreground" />
      <h2 className="text-base font-semibold">No samples yet</h2>
      <p className="max-w-xs text-pretty text-muted-foreground">
        {identity.available
          ? 'Make an image with it in the playground to see its style.'
          : 'Its pictures come with its model.'}
      </p>
    </div>
  );
}
