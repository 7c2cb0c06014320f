import { ImageIcon } from 'lucide-react';
import { Button } from '@/components/ui/button.tsx';
import { sizeOf } from './form-values.ts';
import { fitSize, frameStyle } from './sizes.ts';
import type { Playground } from './use-playground.ts';

const examples = [
  'A calm night over the mountains, first snow on the ridge',
  'Morning fog lifting from a quiet bay, soft light',
  'A single tree on a hill under a wide evening sky',
];

const productExamples = [
  'On an old wooden table by the window, morning light',
  'On a plinth of pale stone, one soft shadow',
  'Beside ripe lemons on a linen cloth',
];

/** Shown before the first image: its place in its shape, and example prompts. */
export function EmptyResult({ playground }: { playground: Playground }) {
  const { values, license, identity, change, form } = playground;
  const size = fitSize(sizeOf(values) ?? { width: 1024, height: 1024 }, license.maxSidePx);
  const offersExamples = license.usable && values.prompt.trim() === '';
  const begin = (prompt: string): void => {
    change({ prompt });
    form.current?.querySelector<HTMLElement>('[name="prompt"]')?.focus();
  };
  return (
    // Its shape is that of the image, and it grows with its text: a minimum height would let the text run out of it.
    <div
      className="mx-auto flex w-full lg:mx-0 flex-col items-center justify-center gap-4 rounded-lg border border-dashed border-border p-6 text-center"
      style={{ ...frameStyle(size, 1), aspectRatio: `${size.width} / ${size.height}` }}
    >
      <ImageIcon aria-hidden strokeWidth={1.5} className="size-8 shrink-0 text-muted-foreground" />
      <div className="grid gap-1">
        <h2 className="text-base font-semibold">
          {license.usable ? 'Your image will appear here' : 'Nothing to generate with'}
        </h2>
        <p className="max-w-sm text-pretty text-muted-foreground">
          {helpText(license.usable, offersExamples)}
        </p>
      </div>
      {offersExamples && (
        <ul className="grid w-full max-w-md gap-2">
          {(identity?.productPhotos ? productExamples : examples).map((prompt) => (
            <li key={prompt}>
              <Button
                variant="outline"
                onClick={() => begin(prompt)}
                className="h-auto min-h-10 w-full py-2 text-left font-normal whitespace-normal"
              >
                {prompt}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function helpText(usable: boolean, offersExamples: boolean): string {
  if (!usable) return 'This license makes no images now. Those that it made are in your history.';
  return offersExamples
    ? 'Write a prompt, or begin with one of these. Whatever you make is kept in your history.'
    : 'Choose a size and generate. Whatever you make is kept in your history.';
}
