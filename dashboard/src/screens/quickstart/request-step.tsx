import type { IdentityAnswer } from '@/api/types.ts';
import { CodeTabs } from '@/components/code-tabs.tsx';
import { ErrorState } from '@/components/error-state.tsx';
import { Field } from '@/components/field.tsx';
import { Loading } from '@/components/loading.tsx';
import { Input } from '@/components/ui/input.tsx';
import { Select, SelectContent, SelectItem, SelectTrigger, SelectValue } from '@/components/ui/select.tsx';
import { Skeleton } from '@/components/ui/skeleton.tsx';
import { useConfig } from '@/config-context.ts';
import { codeSamples } from '@/lib/code-samples.ts';
import { promptProblem, samplePrompt } from './prompt.ts';
import { runNotes } from './run-notes.tsx';
import { Step } from './step.tsx';
import type { SampleIdentity } from './use-sample-identity.ts';

interface RequestStepProps {
  identity: SampleIdentity;
  prompt: string;
  onPrompt: (prompt: string) => void;
}

export function RequestStep({ identity, prompt, onPrompt }: RequestStepProps) {
  const { apiBaseUrl } = useConfig();
  const body = { identityId: identity.shown.id, prompt: samplePrompt(prompt) };
  return (
    <Step number={3} title="Ask for an image">
      <p className="max-w-2xl text-pretty">
        A request needs an identity, which decides what the images look like, and a prompt. Everything else
        has a default: one image of 1024 × 1024 pixels, which costs 1 credit.
      </p>
      {identity.error !== null && (
        <ErrorState error={identity.error} onRetry={identity.retry} retrying={identity.retrying} />
      )}
      <div className="grid gap-4 sm:grid-cols-2">
        <IdentityField identity={identity} />
        <Field label="Prompt" error={promptProblem(prompt)}>
          {(control) => (
            <Input {...control} value={prompt} onChange={(event) => onPrompt(event.target.value)} />
          )}
        </Field>
      </div>
      {identity.pending ? (
        <Loading label="Loading your identities">
          <Skeleton className="h-64" />
        </Loading>
      ) : (
        <CodeTabs samples={codeSamples({ apiBaseUrl, body })} label="request" notes={runNotes} />
      )}
    </Step>
  );
}

function IdentityField({ identity }: { identity: SampleIdentity }) {
  const { identities, shown, choose, pending, error } = identity;
  const none = identities.length === 0;
  return (
    <Field
      label="Identity"
      hint={none && !pending && error === null ? 'This license has no identities yet.' : shown.description}
    >
      {(control) =>
        pending ? (
          <Skeleton className="h-10" />
        ) : (
          <Select value={none ? '' : shown.id} onValueChange={choose} disabled={none}>
            <SelectTrigger {...control}>
              <SelectValue placeholder="None" />
            </SelectTrigger>
            <SelectContent>
              {identities.map((item) => (
                <SelectItem key={item.id} value={item.id} disabled={!item.available}>
                  {item.name}
                  {nameNote(item)}
                </SelectItem>
              ))}
            </SelectContent>
          </Select>
        )
      }
    </Field>
  );
}

function nameNote({ available }: IdentityAnswer): string {
  return available ? '' : ' · not available now';
}
