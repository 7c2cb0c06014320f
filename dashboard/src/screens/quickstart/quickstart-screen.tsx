import { useState, type ReactNode } from 'react';
import { Field } from '@/components/field.tsx';
import { Loading, Skeleton } from '@/components/loading.tsx';
import { QueryError } from '@/components/states.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Select } from '@/components/ui/select.tsx';
import { useSampleAddresses } from '@/lib/config.ts';
import { Page } from '@/layout/page.tsx';
import { isolated } from '@/lib/text.ts';
import { codeSamples, defaultPrompt, type SampleLanguage } from '@/lib/code-samples.ts';
import { useLicense } from '@/license/license-choice.ts';
import { LicenseNotice } from '@/license/license-notice.tsx';
import { CodeTabs } from '@/components/code.tsx';
import { promptProblem, samplePrompt } from './samples.ts';
import {
  Step,
  AnswerStep,
  CreateKeyStep,
  ExportStep,
  GoodToKnowStep,
  LookUpStep,
  useSampleIdentity,
  type SampleIdentity,
} from './steps.tsx';

export default function QuickstartScreen() {
  const { usable } = useLicense();
  const identity = useSampleIdentity();
  const [prompt, setPrompt] = useState(defaultPrompt);
  return (
    <Page title="Quickstart" description="Your first image in five minutes, from your own code.">
      {!usable && <LicenseNotice className="mb-6" />}
      <ol className="grid grid-cols-1 gap-6 xl:grid-cols-2">
        <CreateKeyStep />
        <ExportStep />
        <RequestStep identity={identity} prompt={prompt} onPrompt={setPrompt} />
        <AnswerStep identity={identity} />
        <LookUpStep />
        <GoodToKnowStep />
      </ol>
    </Page>
  );
}

interface RequestStepProps {
  identity: SampleIdentity;
  prompt: string;
  onPrompt: (prompt: string) => void;
}

function RequestStep({ identity, prompt, onPrompt }: RequestStepProps) {
  const addresses = useSampleAddresses();
  const body = { identityId: identity.shown.id, prompt: samplePrompt(prompt) };
  return (
    <Step number={3} title="Ask for an image">
      <p className="max-w-2xl text-pretty">
        A request needs an identity, which decides what the images look like, and a prompt. Everything else
        has a default: one image of 1024 × 1024 pixels, which costs 1 credit.
      </p>
      {identity.error !== null && <QueryError query={identity.query} />}
      <div className="grid gap-4 sm:grid-cols-2">
        <IdentityField identity={identity} />
        <Field label="Prompt" error={promptProblem(prompt)}>
          <Input value={prompt} onChange={(event) => onPrompt(event.target.value)} />
        </Field>
      </div>
      {identity.pending ? (
        <Loading label="Loading your identities" bars={['h-64']} />
      ) : (
        <CodeTabs samples={codeSamples({ ...addresses, body })} label="request" notes={runNotes} />
      )}
    </Step>
  );
}

function IdentityField({ identity }: { identity: SampleIdentity }) {
  const { identities, shown, choose, pending, error } = identity;
  const none = identities.length === 0;
  const choices = identities.map(({ id, name, available }) => {
    return { id, label: isolated(name) + (available ? '' : ' · not available now'), disabled: !available };
  });
  return (
    <Field
      label="Identity"
      hint={none && !pending && error === null ? 'This license has no identities yet.' : shown.description}
    >
      {pending ? (
        <Skeleton className="h-10" />
      ) : (
        <Select
          value={none ? '' : shown.id}
          choices={choices}
          onChange={(id) => choose(id!)}
          disabled={none}
          {...(none && { none: 'None' })}
        />
      )}
    </Field>
  );
}

/** How each sample is run, below its code. */
const runNotes: Record<SampleLanguage, ReactNode> = {
  curl: (
    <>
      For bash and zsh. In PowerShell, use TypeScript or Python. Run it again and you get the same image,
      charged once: change the <code>Idempotency-Key</code> for another one.
    </>
  ),
  typescript: (
    <>
      In an empty folder, run the command of the first line. Then save this as <code>image.mts</code> and run{' '}
      <code>node image.mts</code>, with Node.js 22.18 or newer. The image is in <code>image.png</code>.
    </>
  ),
  python: (
    <>
      In a virtual environment, run the command of the first line; <code>imagegen</code> comes along. Then
      save this as <code>image.py</code> and run <code>python3 image.py</code>. The image is in{' '}
      <code>image.png</code>.
    </>
  ),
};
