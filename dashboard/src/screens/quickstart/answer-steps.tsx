import { Link } from 'react-router';
import { useUsage } from '@/api/queries.ts';
import { CodeBlock } from '@/components/code-block.tsx';
import { CodeTabs } from '@/components/code-tabs.tsx';
import { useConfig } from '@/config-context.ts';
import { lookUpSamples } from '@/lib/code-samples.ts';
import { useLicense } from '@/license/license-context.tsx';
import { answerFields, sampleAnswer } from './sample-answer.ts';
import { Step } from './step.tsx';
import type { SampleIdentity } from './use-sample-identity.ts';

const exampleRequestId = '019b1c7e-5d20-7f3a-9c41-6b0e8d52a7f4';
const linkLooks = 'underline underline-offset-4 hover:decoration-2';

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
        Some seconds later the images are there. Open a link of <code>outputs</code> in a browser, or let your
        program download it.
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
  const { apiBaseUrl } = useConfig();
  const { licenseId } = useLicense();
  const newestId = useUsage(licenseId).data?.history[0]?.requestId;
  const requestId = newestId ?? 'YOUR_REQUEST_ID';
  return (
    <Step number={5} title="Fetch it again">
      <p className="max-w-2xl text-pretty">
        Requests are kept for 90 days. Looking one up costs nothing and gives new links.{' '}
        {newestId === undefined ? (
          <>
            Put the <code>requestId</code> of your answer in the place of <code>YOUR_REQUEST_ID</code>.
          </>
        ) : (
          <>
            This is{' '}
            <Link to={`/history/${newestId}`} className={linkLooks}>
              your newest request
            </Link>
            .
          </>
        )}
      </p>
      <CodeTabs samples={lookUpSamples({ apiBaseUrl, requestId })} label="look-up" />
    </Step>
  );
}
