import { ImageDown } from 'lucide-react';

/** Lies over the whole form while something is dragged, its words where the window shows them. */
export function DropTarget({ full }: { full: boolean }) {
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-0 z-30 rounded-lg border-2 border-dashed border-primary bg-card/90"
    >
      <p className="sticky top-[40dvh] mx-auto flex w-fit flex-col items-center gap-2 px-6 py-16 text-center text-base font-semibold">
        <ImageDown strokeWidth={1.5} className="size-8" />
        {full ? 'Remove an image first' : 'Drop to add'}
      </p>
    </div>
  );
}
