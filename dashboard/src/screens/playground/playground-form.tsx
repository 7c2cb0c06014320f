import { ChevronRight } from 'lucide-react';
import { lazy, Suspense, useState, type KeyboardEvent, type ReactNode } from 'react';
import { toast } from 'sonner';
import { Loading } from '@/components/loading.tsx';
import { ErrorBoundary } from '@/layout/error-boundary.tsx';
import { formatCount } from '@/lib/format.ts';
import { cn } from '@/lib/cn.ts';
import { formatLabels, outputFormats } from '@/lib/outputs.ts';
import { Button } from '@/components/ui/button.tsx';
import { Choices } from './choices.tsx';
import { IdentityPicker, NumberSlider, PromptField, SeedField, SizePicker } from './fields.tsx';
import { guidanceRange, negativePromptLimit, promptLimit, stepsRange } from './form-values.ts';
import { sendable } from './references/reference.ts';
import { useDrops } from './references/use-drops.ts';
import { useReferences } from './stores.ts';
import { RunFailure, SubmitBar } from './submit-bar.tsx';
import { usePlayground } from './use-playground.ts';
import { VersionPicker } from './version-picker.tsx';
import { fitToTier } from './fill-form.ts';
import { otherSettings } from './last-used.ts';

export function PlaygroundForm({ usedSeed }: { usedSeed: number | null }) {
  const { license, form, submit } = usePlayground();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Enter in a field must not send.
    <form
      ref={form}
      noValidate
      aria-label="Image settings"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
      onKeyDown={keepEnter}
      className="relative grid min-w-0 grid-cols-1 rounded-lg border border-border bg-card"
    >
      <fieldset disabled={!license.usable} className="grid min-w-0 grid-cols-1 gap-6 p-4 sm:p-6">
        <legend className="sr-only">What to make</legend>
        <IdentityPicker />
        <VersionPicker />
        <LastUsedOffer />
        <PromptField
          name="prompt"
          label="Prompt"
          limit={promptLimit}
          required
          rows={4}
          placeholder="What should the image show?"
          className="max-h-80 min-h-28"
        />
        <LazyReferences />
        <SizePicker />
        <OutputsPicker />
        <FormatPicker />
        <SeedField usedSeed={usedSeed} />
        <MoreOptions />
      </fieldset>
      <RunFailure />
      <SubmitBar />
    </form>
  );
}

/** Enter alone must not spend credits; the button, Ctrl+Enter and Cmd+Enter do. */
function keepEnter(event: KeyboardEvent<HTMLFormElement>): void {
  const inInput = event.target instanceof HTMLInputElement;
  if (event.key === 'Enter' && inInput && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

function OutputsPicker() {
  const { values, license, shownErrors, change } = usePlayground();
  return (
    <Choices
      legend="Images"
      name="outputs"
      columns="grid-cols-4"
      options={Array.from({ length: license.maxOutputs }, (_, i) => i + 1)}
      chosen={values.numOutputs}
      onChoose={(numOutputs) => change({ numOutputs })}
      className="h-10 text-sm font-medium tabular-nums"
      note={
        <>
          {license.maxOutputs === 1 && (
            <Note className="mt-1">{license.tier} makes one image in a request.</Note>
          )}
          {shownErrors.numOutputs && (
            <p className="mt-1 text-xs text-destructive">{shownErrors.numOutputs}</p>
          )}
        </>
      }
    >
      {(count) => count}
    </Choices>
  );
}

function FormatPicker() {
  const { values, change } = usePlayground();
  return (
    <Choices
      legend="Format"
      name="format"
      columns="grid-cols-3"
      options={outputFormats}
      chosen={values.outputFormat}
      onChoose={(outputFormat) => change({ outputFormat })}
      className="h-10 text-sm font-medium"
      note={
        <Note className="mt-1">
          PNG keeps every pixel. WebP and JPEG are much smaller files, at quality 90.
        </Note>
      }
    >
      {(format) => formatLabels[format]}
    </Choices>
  );
}

function Note({ className, children }: { className?: string; children: ReactNode }) {
  return <p className={cn('text-xs leading-5 text-pretty text-muted-foreground', className)}>{children}</p>;
}

function MoreOptions() {
  const { values, shownErrors } = usePlayground();
  const [opened, setOpened] = useState(false);
  const wrong = shownErrors.negativePrompt ?? shownErrors.steps ?? shownErrors.guidance;
  return (
    <details
      open={opened || wrong !== undefined}
      onToggle={({ currentTarget }) => {
        // Stay open while an option is wrong.
        if (wrong !== undefined) currentTarget.open = true;
        setOpened(currentTarget.open);
      }}
      className="group min-w-0"
    >
      <summary className="-mx-2 flex h-10 cursor-pointer list-none items-center gap-2 rounded-md px-2 text-sm font-medium hover:bg-accent [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-4 transition-transform group-open:rotate-90" />
        More options
        <span className="ml-auto truncate text-xs font-normal text-muted-foreground tabular-nums">
          {values.steps} steps, guidance {values.guidance}
        </span>
      </summary>
      <div className="grid gap-6 pt-4">
        <PromptField
          name="negativePrompt"
          label="Negative prompt"
          hint="What the image should not show."
          limit={negativePromptLimit}
          rows={2}
          className="max-h-60 min-h-16"
        />
        <NumberSlider
          name="steps"
          label="Steps"
          hint="More take longer and may add detail."
          range={stepsRange}
        />
        <NumberSlider
          name="guidance"
          label="Guidance scale"
          hint="How closely the image follows the prompt."
          range={guidanceRange}
        />
      </div>
    </details>
  );
}

// Loaded later: most identities take no reference images.
const ReferencesSection = lazy(() => import('./references/references-section.tsx'));

function LazyReferences() {
  const { identity } = usePlayground();
  if (identity === undefined) return null;
  if (!identity.productPhotos) return <NoReferences name={identity.name} />;
  return (
    <ErrorBoundary fallback={<Note>Reference images could not be loaded. Reload the page to add some.</Note>}>
      <Suspense fallback={<Loading label="Loading reference images" bars={['h-24', 'h-10', 'h-20']} />}>
        <ReferencesSection />
      </Suspense>
    </ErrorBoundary>
  );
}

function NoReferences({ name }: { name: string }) {
  const { identities } = usePlayground();
  const kept = sendable(useReferences().items).length;
  const others = identities.filter(({ productPhotos, available }) => productPhotos && available);
  const sentence = `${name} takes no reference images`;
  // Without this the browser would open the file in place of the page.
  useDrops(() => void toast(`${sentence}.`));
  return (
    <Note>
      {sentence}
      {others.length > 0 &&
        `; ${listOf(others.map((other) => other.name))} ${others.length > 1 ? 'do' : 'does'}`}
      .{kept > 0 && ` Your ${formatCount(kept, 'image')} ${kept === 1 ? 'is' : 'are'} kept until then.`}
    </Note>
  );
}

function listOf(names: string[]): string {
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(names);
}

/** Offers what the chosen identity was used with last, where the form has something else. */
function LastUsedOffer() {
  const { values, license, identity, change } = usePlayground();
  const settings = otherSettings(values);
  if (settings === null || identity === undefined) return null;
  const { width, height, steps, guidance, numOutputs, outputFormat } = settings;
  const parts = [
    `${width} × ${height}`,
    formatCount(numOutputs, 'image'),
    formatLabels[outputFormat],
    `${steps} steps`,
    `guidance ${guidance}`,
  ];
  const apply = (): void => {
    const own = { customSize: false, isOwnSize: true };
    change(fitToTier({ ...values, ...own, ...settings }, license).values);
  };
  return (
    <div className="-mt-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-1">
      <p className="text-xs leading-5 text-muted-foreground tabular-nums">
        Last used with <bdi>{identity.name}</bdi>: {parts.join(', ')}
      </p>
      <Button variant="outline" size="sm" onClick={apply}>
        Use these settings
      </Button>
    </div>
  );
}
