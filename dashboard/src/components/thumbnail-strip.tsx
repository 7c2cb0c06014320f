import { useRef, type KeyboardEvent } from 'react';
import { cn } from '@/lib/cn.ts';

interface ThumbnailStripProps {
  label: string;
  /** `label` is what the button of a picture does. */
  pictures: readonly { src: string; label: string }[];
  /** Of the picture that is shown large. */
  index: number;
  onShow: (index: number) => void;
}

const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1 };

/** Pictures in small, to choose the one that is shown large. The arrow keys go from one to the next. */
export function ThumbnailStrip({ label, pictures, index, onShow }: ThumbnailStripProps) {
  const list = useRef<HTMLUListElement>(null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = (index + step + pictures.length) % pictures.length;
    onShow(next);
    list.current?.querySelectorAll('button')[next]?.focus();
  };
  return (
    <ul ref={list} role="list" aria-label={label} className="grid max-w-md grid-cols-4 gap-3 p-1">
      {pictures.map((picture, i) => (
        <li key={i}>
          <button
            type="button"
            aria-pressed={i === index}
            aria-label={picture.label}
            onClick={() => onShow(i)}
            onKeyDown={onKeyDown}
            className={cn(
              'block aspect-square w-full overflow-hidden rounded-md bg-secondary ring-offset-2 ring-offset-background',
              i === index ? 'ring-2 ring-foreground' : 'hover:ring-1 hover:ring-input',
            )}
          >
            {/* No alternative text: the button says what it is. */}
            <img src={picture.src} alt="" referrerPolicy="no-referrer" className="size-full object-cover" />
          </button>
        </li>
      ))}
    </ul>
  );
}
