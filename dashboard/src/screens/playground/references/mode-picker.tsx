import { useId } from 'react';
import { Label } from '@/components/ui/label.tsx';
import { Switch } from '@/components/ui/switch.tsx';
import { Choice } from '../choice.tsx';
import type { Playground } from '../use-playground.ts';

const modes = [
  { mode: 'reference', title: 'Reference', what: 'Takes colors and form for a new picture.' },
  {
    mode: 'exact_product',
    title: 'Exact product',
    what: 'Keeps your photo’s pixels and sets a scene around them.',
  },
] as const;

/** What is made of the images. */
export function ModePicker({ playground }: { playground: Playground }) {
  const { values, change } = playground;
  const id = useId();
  return (
    <>
      <fieldset className="grid min-w-0 grid-cols-1">
        <legend className="mb-2 text-sm font-medium">How they are used</legend>
        <div className="grid grid-cols-2 gap-2">
          {modes.map(({ mode, title, what }) => (
            <Choice
              key={mode}
              name="reference-mode"
              checked={values.referenceMode === mode}
              onChoose={() => change({ referenceMode: mode })}
              className="flex-col items-stretch justify-start gap-0.5 p-3 text-left"
            >
              <span className="leading-5 font-medium">{title}</span>
              <span className="text-xs leading-5 text-pretty text-muted-foreground">{what}</span>
            </Choice>
          ))}
        </div>
      </fieldset>
      <div className="flex items-center justify-between gap-4">
        <div className="grid min-w-0">
          <Label htmlFor={id}>Preserve branding</Label>
          <p id={`${id}-hint`} className="text-xs leading-5 text-pretty text-muted-foreground">
            Keeps logos and lettering where it can.
          </p>
        </div>
        <Switch
          id={id}
          aria-describedby={`${id}-hint`}
          checked={values.preserveBranding}
          onCheckedChange={(preserveBranding) => change({ preserveBranding })}
        />
      </div>
    </>
  );
}
