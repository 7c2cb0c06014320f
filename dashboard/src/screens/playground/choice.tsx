import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface ChoiceProps {
  name: string;
  checked: boolean;
  onChoose: () => void;
  className?: string;
  children: ReactNode;
}

/** One of several in a `fieldset`: a native radio button that looks like a card. */
export function Choice({ name, checked, onChoose, className, children }: ChoiceProps) {
  return (
    <label
      className={cn(
        'relative flex cursor-pointer items-center justify-center rounded-md border border-input bg-card text-center transition-colors hover:bg-accent has-checked:border-primary has-checked:bg-accent has-checked:ring-1 has-checked:ring-primary has-disabled:cursor-not-allowed has-disabled:opacity-50 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ring',
        className,
      )}
    >
      <input
        type="radio"
        name={name}
        checked={checked}
        onChange={onChoose}
        className="absolute inset-0 size-full cursor-pointer appearance-none rounded-md opacity-0"
      />
      {children}
    </label>
  );
}
