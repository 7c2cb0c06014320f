import { Plus } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import { useUsage, useIdentities } from '@/api/queries.ts';
import { LinkButton } from '@/components/ui/button.tsx';
import { useRetention, useSampleAddresses } from '@/lib/config.ts';
import { ReferenceLink } from '@/layout/reference-link.tsx';
import { lookUpSamples } from '@/lib/code-samples.ts';
import { useLicense } from '@/license/license-choice.ts';
import { CodeBlock, CodeTabs } from '@/components/code.tsx';
import { Card } from '@/components/ui/card.tsx';
import { cn } from '@/lib/cn.ts';
import { answerFields, sampleAnswer, identityToShow } from './samples.ts';

export function CreateKeyStep() {
  return (
    <Step number={1} title="Create a key" half>
      <p className="max-w-2xl text-pretty">
        A key stands for your license: requests with it use its identities and its credits. It is shown once,
        when it is made, so have a safe place ready.
      </p>
      <LinkButton className="w-fit" to="/keys?new=1" icon={Plus}>
        Create key
      </LinkButton>
    </Step>
  );
}

export function ExportStep() {
  return (
    <Step number={2} title="Put it into your shell" half>
      <p className="max-w-2xl text-pretty">
        Every sample reads the key from <code>IMAGE_API_KEY</code>, so that it never stands in code. Put your
        own key after the equals sign.
      </p>
      <CodeBlock code="export IMAGE_API_KEY=svc_live_…" label="line for the shell" />
      <p className="text-xs text-muted-foreground">
        In PowerShell: <code className="wrap-anywhere">$env:IMAGE_API_KEY = &quot;svc_live_…&quot;</code>
      </p>
    </Step>
  );
}

const exampleRequestId = '019b1c7e-5d20-7f3a-9c41-6b0e8d52a7f4';
const linkClasses = 'underline underline-offset-4 hover:decoration-2';

export function AnswerStep({ identity }: { identity: SampleIdentity }) {
  const { creditsLimit, billingPeriodEnd } = useLicense();
  const { id, name } = identity.shown;
  const answer = sampleAnswer({
    requestId: exampleRequestId,
    identity: { id, name },
    creditsLimit,
    periodResetDate: billingPeriodEnd,
  });
  return (
    <Step number={4} title="Read what comes back">
      <p className="max-w-2xl text-pretty">
        Some seconds later the images are there. curl prints this answer; in TypeScript and Python it is the
        result of <code>generate</code>. A link of <code>outputs</code> opens in a browser.
      </p>
      <div className="grid grid-cols-1 gap-6 xl:grid-cols-2">
        <CodeBlock code={JSON.stringify(answer, null, 2)} label="sample answer" />
        <dl className="grid content-start gap-x-4 gap-y-3 sm:grid-cols-[auto_minmax(0,1fr)]">
          {Object.entries(answerFields).map(([field, meaning]) => (
            <div key={field} className="grid sm:col-span-2 sm:grid-cols-subgrid">
              <dt>
                <code className="text-[0.8125rem]">{field}</code>
              </dt>
              <dd className="text-pretty text-muted-foreground">{meaning}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Step>
  );
}

export function LookUpStep() {
  const addresses = useSampleAddresses();
  const { licenseId } = useLicense();
  const newestId = useUsage(licenseId).data?.history[0]?.requestId;
  const requestId = newestId ?? 'YOUR_REQUEST_ID';
  return (
    <Step number={5} title="Fetch it again">
      <p className="max-w-2xl text-pretty">
        Requests are kept for {useRetention()}. Looking one up costs nothing and gives new links.{' '}
        {newestId === undefined ? (
          <>
            Put the <code>requestId</code> of your answer in the place of <code>YOUR_REQUEST_ID</code>.
          </>
        ) : (
          <>
            This is{' '}
            <Link to={`/history/${newestId}`} className={linkClasses}>
              your newest request
            </Link>
            .
          </>
        )}
      </p>
      <CodeTabs samples={lookUpSamples({ ...addresses, requestId })} label="look-up" />
    </Step>
  );
}

const errorSample = `{
  "error": "width must be a multiple of 64, at least 512.",
  "code": "INVALID_PARAMETERS"
}`;

export function GoodToKnowStep() {
  return (
    <Step number={6} title="Before you build on it">
      <ReferenceNote />
      <div className="grid grid-cols-1 gap-x-10 gap-y-6 md:grid-cols-2">
        <Topic title="Errors say what to change">
          <p>
            Each has a sentence for people and a <code>code</code> for programs. The sentence may be reworded,
            the code stays. <code>X-Request-Id</code> is on every answer; send it along when you ask for help.
          </p>
          <CodeBlock code={errorSample} label="sample error" />
        </Topic>
        <Topic title="Retries are safe">
          <p>
            Send an <code>Idempotency-Key</code> header with a value of your own, a UUID for instance. Within
            24 hours, the same body with the same value gets the first result and is charged once.
          </p>
          <CodeBlock code="Idempotency-Key: 3f0c2a9e-5b7d-4c1e-9a86-d2f4b8e07c15" label="sample header" />
          <p>
            When an answer has <code>Retry-After</code>, wait that many seconds before you try again.
          </p>
        </Topic>
        <Topic title="10 requests a minute">
          <p>
            Each key may send 10 requests for images in any 60 seconds; beyond that the answer is 429 with the
            code <code>RATE_LIMITED</code>. The <code>RateLimit</code> header says how many are left.
          </p>
        </Topic>
        <Topic title="1 credit a megapixel">
          <p>
            Each image costs 1 credit for every started megapixel (1,048,576 pixels): {square(1024)} costs 1,{' '}
            {square(2048)} costs 4. Requests that fail cost nothing.
          </p>
        </Topic>
        <Topic title="Links work for 1 hour">
          <p>
            Whoever has a link can open it until then. Download what you want to keep, or fetch new links.
          </p>
        </Topic>
        <Topic title="Seeds repeat an image">
          <p>
            The same identity, parameters and <code>seed</code> make the same images. Without one, a seed is
            drawn, and the answer has it.
          </p>
        </Topic>
      </div>
    </Step>
  );
}

function ReferenceNote() {
  return (
    <p className="max-w-2xl text-pretty">
      Every endpoint, parameter and error is in the{' '}
      <ReferenceLink className="underline underline-offset-4 hover:decoration-2">API reference</ReferenceLink>
      , where you can try them with your key.
    </p>
  );
}

/** With spaces that do not break. */
function square(sidePx: number): string {
  return `${sidePx}\u00a0×\u00a0${sidePx}`;
}

function Topic({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid min-w-0 grid-cols-1 content-start gap-2 text-pretty">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}

interface StepProps {
  number: number;
  title: string;
  half?: boolean;
  children: ReactNode;
}

/** One step of the list, an `li`. */
export function Step({ number, title, half = false, children }: StepProps) {
  return (
    <li className={cn('min-w-0', !half && 'xl:col-span-2')}>
      <Card className="grid h-full grid-cols-1 content-start gap-4">
        <h2 className="flex items-baseline gap-3 text-base font-semibold">
          <span aria-hidden className="text-muted-foreground tabular-nums">
            {number}
          </span>
          <span className="sr-only">Step {number}: </span>
          {title}
        </h2>
        {children}
      </Card>
    </li>
  );
}

export type SampleIdentity = ReturnType<typeof useSampleIdentity>;

/** An identity of the current license for the samples: the chosen one, or the first that is available. */
export function useSampleIdentity() {
  const { licenseId } = useLicense();
  const query = useIdentities(licenseId);
  const { data, error, isPending } = query;
  const [chosenId, setChosenId] = useState<string | null>(null);
  const identities = data ?? [];
  return {
    identities,
    shown: identityToShow(identities, chosenId),
    choose: setChosenId,
    pending: isPending,
    error: data === undefined ? error : null,
    query,
  };
}
