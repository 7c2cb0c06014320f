import { ChevronRight } from 'lucide-react';
import { useState, type KeyboardEvent } from 'react';
import { Choice } from './choice.tsx';
import { FormatPicker } from './format-picker.tsx';
import { guidanceRange, stepsRange } from './form-values.ts';
import { IdentityPicker } from './identity-picker.tsx';
import { NumberSlider } from './number-slider.tsx';
import { NegativePromptField, PromptField } from './prompt-fields.tsx';
import { ReferencesPart } from './references-part.tsx';
import { RunFailure } from './run-failure.tsx';
import { SeedField } from './seed-field.tsx';
import { SizePicker } from './size-picker.tsx';
import { SubmitBar } from './submit-bar.tsx';
import type { Playground } from './use-playground.ts';

interface PlaygroundFormProps {
  playground: Playground;
  usedSeed: number | null;
}

export function PlaygroundForm({ playground, usedSeed }: PlaygroundFormProps) {
  const { license, form, submit } = playground;
  return (
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
        <IdentityPicker playground={playground} />
        <PromptField playground={playground} />
        <ReferencesPart playground={playground} />
        <SizePicker playground={playground} />
        <OutputsPicker playground={playground} />
        <FormatPicker playground={playground} />
        <SeedField playground={playground} usedSeed={usedSeed} />
        <MoreOptions playground={playground} />
      </fieldset>
      <RunFailure playground={playground} />
      <SubmitBar playground={playground} />
    </form>
  );
}

/** Enter ends a number's typing; only the button, or Ctrl or Cmd with Enter, spends credits. */
function keepEnter(event: KeyboardEvent<HTMLFormElement>): void {
  const inInput = event.target instanceof HTMLInputElement;
  if (event.key === 'Enter' && inInput && !event.ctrlKey && !event.metaKey) event.preventDefault();
}

function OutputsPicker({ playground }: { playground: Playground }) {
  const { values, license, shownErrors, change } = playground;
  const counts = Array.from({ length: license.maxOutputs }, (_, i) => i + 1);
  return (
    <fieldset className="grid min-w-0 grid-cols-1">
      <legend className="mb-2 text-sm font-medium">Images</legend>
      <div className="grid grid-cols-4 gap-2">
        {counts.map((count) => (
          <Choice
            key={count}
            name="outputs"
            checked={values.numOutputs === count}
            onChoose={() => change({ numOutputs: count })}
            className="h-10 text-sm font-medium tabular-nums"
          >
            {count}
          </Choice>
        ))}
      </div>
      {license.maxOutputs === 1 && (
        <p className="mt-1 text-xs leading-5 text-muted-foreground">
          {license.tier} makes one image in a request.
        </p>
      )}
      {shownErrors.numOutputs && <p className="mt-1 text-xs text-destructive">{shownErrors.numOutputs}</p>}
    </fieldset>
  );
}

function MoreOptions({ playground }: { playground: Playground }) {
  const { values, shownErrors } = playground;
  const [opened, setOpened] = useState(false);
  const wrong = shownErrors.negativePrompt ?? shownErrors.steps ?? shownErrors.guidance;
  return (
    <details
      open={opened || wrong !== undefined}
      onToggle={({ currentTarget }) => {
        // What is wrong must stay in sight.
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
        <NegativePromptField playground={playground} />
        <NumberSlider
          playground={playground}
          name="steps"
          label="Steps"
          hint="More take longer and may add detail."
          range={stepsRange}
        />
        <NumberSlider
          playground={playground}
          name="guidance"
          label="Guidance scale"
          hint="How closely the image follows the prompt."
          range={guidanceRange}
        />
      </div>
    </details>
  );
}
