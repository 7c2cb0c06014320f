import type { StoredGeneration } from '@/api/types.ts';
import { cn } from '@/lib/cn.ts';
import { outputSeed, thumbnailOf } from '@/lib/outputs.ts';

interface OutputStripProps {
  generation: StoredGeneration;
  index: number;
  onShow: (index: number) => void;
}

/** The images of a request in small, to choose the one that is shown large. */
export function OutputStrip({ generation, index, onShow }: OutputStripProps) {
  const { outputs, seed } = generation;
  return (
    <ul role="list" aria-label="Images of this request" className="grid max-w-md grid-cols-4 gap-3 p-1">
      {outputs.map((_, i) => (
        <li key={i}>
          <button
            type="button"
            aria-pressed={i === index}
            aria-label={`Show image ${i + 1}, seed ${outputSeed(seed, i)}`}
            onClick={() => onShow(i)}
            className={cn(
              'block aspect-square w-full overflow-hidden rounded-md bg-secondary ring-offset-2 ring-offset-background',
              i === index ? 'ring-2 ring-foreground' : 'hover:ring-1 hover:ring-input',
            )}
          >
            {/* No alternative text: the large image has it. */}
            <img
              src={thumbnailOf(generation, i)}
              alt=""
              referrerPolicy="no-referrer"
              className="size-full object-cover"
            />
          </button>
        </li>
      ))}
    </ul>
  );
}
