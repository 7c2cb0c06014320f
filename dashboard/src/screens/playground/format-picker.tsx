import { formatLabels, outputFormats } from '@/lib/outputs.ts';
import { Choice } from './choice.tsx';
import type { Playground } from './use-playground.ts';

/** What the images are stored as. */
export function FormatPicker({ playground }: { playground: Playground }) {
  const { values, change } = playground;
  return (
    <fieldset className="grid min-w-0 grid-cols-1">
      <legend className="mb-2 text-sm font-medium">Format</legend>
      <div className="grid grid-cols-3 gap-2">
        {outputFormats.map((outputFormat) => (
          <Choice
            key={outputFormat}
            name="format"
            checked={values.outputFormat === outputFormat}
            onChoose={() => change({ outputFormat })}
            className="h-10 text-sm font-medium"
          >
            {formatLabels[outputFormat]}
          </Choice>
        ))}
      </div>
      <p className="mt-1 text-xs leading-5 text-pretty text-muted-foreground">
        PNG keeps every pixel. WebP and JPEG are much smaller files, at quality 90.
      </p>
    </fieldset>
  );
}
