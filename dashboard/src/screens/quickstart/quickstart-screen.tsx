import { TriangleAlert } from 'lucide-react';
import { useState } from 'react';
import { Alert, AlertDescription, AlertTitle } from '@/components/ui/alert.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicense } from '@/license/license-context.tsx';
import { AnswerStep, LookUpStep } from './answer-steps.tsx';
import { CreateKeyStep, ExportStep } from './key-steps.tsx';
import { KnowledgeStep } from './knowledge.tsx';
import { defaultPrompt } from './prompt.ts';
import { RequestStep } from './request-step.tsx';
import { useSampleIdentity } from './use-sample-identity.ts';

export default function QuickstartScreen() {
  const identity = useSampleIdentity();
  const [prompt, setPrompt] = useState(defaultPrompt);
  return (
    <Page title="Quickstart" description="Your first image in five minutes, from your own code.">
      <UnusableNotice />
      <ol className="grid grid-cols-1 gap-6 xl:grid-cols-2">
        <CreateKeyStep />
        <ExportStep />
        <RequestStep identity={identity} prompt={prompt} onPrompt={setPrompt} />
        <AnswerStep identity={identity} />
        <LookUpStep />
        <KnowledgeStep />
      </ol>
    </Page>
  );
}

function UnusableNotice() {
  const { usable, tier } = useLicense();
  if (usable) return null;
  return (
    <Alert variant="warning" className="mb-6">
      <TriangleAlert aria-hidden />
      <AlertTitle>The {tier} license that is chosen does not generate images now.</AlertTitle>
      <AlertDescription>
        Choose another license in the navigation, or renew this one with whoever manages your subscription.
      </AlertDescription>
    </Alert>
  );
}
