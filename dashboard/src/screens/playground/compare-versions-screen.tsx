import { Columns2, Dices } from 'lucide-react';
import { useState } from 'react';
import { useParams } from 'react-router';
import { useIdentity, useUsage } from '@/api/queries.ts';
import type { IdentityDetail, LicenseAnswer } from '@/lib/types.ts';
import { Field } from '@/components/field.tsx';
import { Loading } from '@/components/loading.tsx';
import { EmptyState, ErrorState, Loaded } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Input, Textarea } from '@/components/ui/input.tsx';
import { Select } from '@/components/ui/select.tsx';
import { BackLink, Page } from '@/layout/page.tsx';
import { creditCost, creditsLeft } from '@/lib/credits.ts';
import { formatCredits, formatNumber } from '@/lib/format.ts';
import { useLicense } from '@/license/license-choice.ts';
import { LicenseNotice } from '@/license/license-notice.tsx';
import {
  defaultValues,
  randomSeed,
  toBody,
  validate,
  type FormErrors,
  type FormValues,
} from './form-values.ts';
import { mayRepeat, type Failure } from './run-store.ts';
import { fitSize } from './sizes.ts';
import { useRunState } from './stores.ts';
import { useComparison } from './use-comparison.ts';
import { firstCompared, versionChoices } from './versions.ts';

/** Two versions of an identity make the same request. The pictures are then compared as any two requests of the history. */
export default function CompareVersionsScreen() {
  const { identityId = '' } = useParams();
  const query = useIdentity(identityId, useLicense().licenseId);
  return (
    <>
      <BackLink to={`/identities/${identityId}`}>{query.data?.name ?? 'Identity'}</BackLink>
      <Page
        title="Compare versions"
        description="Two versions make the same picture, with the same seed. You see both side by side."
      >
        <Loaded query={query} skeleton={<Loading label="Loading the versions" bars={['h-80']} />}>
          {(identity) =>
            identity.available && identity.versions.length > 1 ? (
              <CompareForm key={identity.id} identity={identity} />
            ) : (
              <EmptyState icon={Columns2} title="There is nothing to compare now">
                {identity.available
                  ? `${identity.name} has one version that can be used.`
                  : `${identity.name} has no active version. Come back later.`}
              </EmptyState>
            )
          }
        </Loaded>
      </Page>
    </>
  );
}

function CompareForm({ identity }: { identity: IdentityDetail }) {
  const license = useLicense();
  const { sending } = useRunState();
  const [versions, setVersions] = useState(firstCompared(identity.versions));
  const [words, setWords] = useState({ prompt: firstPrompt(identity), seed: randomSeed() });
  const [isRefused, setRefused] = useState(false);
  const { width, height } = fitSize(identity.defaultSize, license.maxSidePx);
  const size = { width: String(width), height: String(height) };
  const values = { ...defaultValues, ...size, ...words, identityId: identity.id };
  const errors = errorsOf(values, versions, license);
  const { compare, isBusy, failure, isHalfDone } = useComparison(identity.name);
  const submit = (): void => {
    const isWrong = Object.keys(errors).length > 0;
    setRefused(isWrong);
    if (isWrong || isBusy || sending !== null || !license.usable) return;
    void compare(
      versions.map((identityVersion) => toBody({ ...values, identityVersion }, license.licenseId)),
    );
  };
  const fields = { ...words, versions, errors: isRefused ? errors : {} };
  return (
    <Card>
      <form
        noValidate
        aria-label="What both make"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        className="grid grid-cols-1 gap-6"
      >
        <LicenseNotice />
        <VersionFields {...fields} identity={identity} onChange={setVersions} />
        <WordFields {...fields} onChange={(change) => setWords({ ...words, ...change })} />
        {failure !== null && <Refused failure={failure} isHalfDone={isHalfDone} onRetry={submit} />}
        <div className="flex flex-wrap items-center justify-between gap-4">
          <Cost each={creditCost({ width, height, numOutputs: 1 })} size={`${width} × ${height}`} />
          <Button type="submit" pending={isBusy} disabled={!license.usable} icon={Columns2}>
            Generate both
          </Button>
        </div>
      </form>
    </Card>
  );
}

function firstPrompt({ samples }: IdentityDetail): string {
  return samples.find(({ prompt }) => prompt !== null)?.prompt ?? '';
}

/** What `validate` finds, and what two requests need beyond it. */
function errorsOf(values: FormValues, versions: readonly string[], license: LicenseAnswer): FormErrors {
  return {
    ...validate(values, license),
    // Without a seed each would draw its own.
    ...(values.seed.trim() === '' && { seed: 'Both need the same seed.' }),
    ...(versions[0] === versions[1] && { identityVersion: 'Choose two different versions.' }),
  };
}

interface FieldsProps<Change> {
  errors: FormErrors;
  onChange: (change: Change) => void;
}

interface VersionFieldsProps extends FieldsProps<string[]> {
  identity: IdentityDetail;
  versions: string[];
}

function VersionFields({ identity, versions, errors, onChange }: VersionFieldsProps) {
  return (
    <div className="grid grid-cols-1 items-start gap-6 sm:grid-cols-2">
      {['A', 'B'].map((name, i) => (
        <Field key={name} label={`Version ${name}`} error={i === 1 ? errors.identityVersion : null}>
          <Select
            value={versions[i]}
            choices={versionChoices(identity.versions)}
            onChange={(chosen) => onChange(versions.with(i, chosen!))}
          />
        </Field>
      ))}
    </div>
  );
}

type Words = Pick<FormValues, 'prompt' | 'seed'>;

function WordFields({ prompt, seed, errors, onChange }: Words & FieldsProps<Partial<Words>>) {
  return (
    <>
      <Field label="Prompt" error={errors.prompt}>
        <Textarea
          value={prompt}
          onChange={({ target }) => onChange({ prompt: target.value })}
          required
          rows={3}
        />
      </Field>
      <Field label="Seed" error={errors.seed}>
        <div className="grid max-w-xs grid-cols-[minmax(0,1fr)_auto] gap-2">
          <Input
            value={seed}
            onChange={({ target }) => onChange({ seed: target.value })}
            inputMode="numeric"
            autoComplete="off"
            className="tabular-nums"
          />
          <Button
            variant="outline"
            size="icon"
            label="Draw a seed"
            onClick={() => onChange({ seed: randomSeed() })}
            icon={Dices}
          />
        </div>
      </Field>
    </>
  );
}

function Refused({ failure, isHalfDone, onRetry }: RefusedProps) {
  return (
    <div className="grid gap-2">
      {isHalfDone && <p>The first picture is in your history. Trying again does not charge it again.</p>}
      <ErrorState
        key={failure.atMs}
        error={failure.error}
        onRetry={mayRepeat(failure.error) ? onRetry : undefined}
      />
    </div>
  );
}

interface RefusedProps {
  failure: Failure;
  isHalfDone: boolean;
  onRetry: () => void;
}

function Cost({ each, size }: { each: number; size: string }) {
  const license = useLicense();
  const { data: usage } = useUsage(license.licenseId);
  const left = usage === undefined ? '' : `, ${formatNumber(creditsLeft(license, usage.stats))} left`;
  return (
    <p className="tabular-nums">
      <span className="font-medium">{formatCredits(2 * each)}</span>{' '}
      <span className="text-xs text-muted-foreground">
        {each} for each of two pictures of {size}
        {left}
      </span>
    </p>
  );
}
