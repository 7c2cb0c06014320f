import { Check } from 'lucide-react';
import { cn } from '@/lib/cn.ts';

interface CardCheckboxProps {
  checked: boolean;
  disabled: boolean;
  /** The id of the element that names it. */
  labelledBy: string;
  describedBy: string;
  onToggle: (withShift: boolean) => void;
}

/** Covers its card, so that a click anywhere on it counts, also one with Shift, which Firefox takes on no label. */
export function CardCheckbox({ checked, disabled, labelledBy, describedBy, onToggle }: CardCheckboxProps) {
  return (
    <>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        aria-labelledby={labelledBy}
        aria-describedby={describedBy}
        onChange={(event) => onToggle((event.nativeEvent as MouseEvent).shiftKey)}
        className="absolute -inset-0.75 z-10 m-0 size-[calc(100%+0.375rem)] cursor-pointer appearance-none rounded-lg inset-ring-primary checked:bg-primary/10 checked:inset-ring-2 sm:-inset-1.5 sm:size-[calc(100%+0.75rem)] focus-visible:outline-2 disabled:cursor-not-allowed"
      />
      {/* At the picture's lower right: the other corners may have badges. */}
      <span aria-hidden className="pointer-events-none absolute inset-x-0 top-0 z-10 aspect-square">
        <span
          className={cn(
            'absolute right-2 bottom-2 flex size-6 items-center justify-center rounded-md border-2',
            checked ? 'border-primary bg-primary text-primary-foreground' : 'border-input bg-card',
            disabled && 'opacity-40',
          )}
        >
          {checked && <Check className="size-4" strokeWidth={3} />}
        </span>
      </span>
    </>
  );
}
