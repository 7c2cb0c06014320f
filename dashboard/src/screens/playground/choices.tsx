import type { ReactNode } from 'react';
import { cn } from '@/lib/cn.ts';

interface ChoicesProps<Value> {
  legend: string;
  name: string;
  /** Of the grid: `grid-cols-3`. */
  columns: string;
  options: readonly Value[];
  chosen: Value | undefined;
  onChoose: (value: Value) => void;
  className: string;
  children: (value: Value) => ReactNode;
  note?: ReactNode;
}

/** Native radio buttons that look like cards. */
export function Choices<Value>({ legend, columns, options, children, note, ...card }: ChoicesProps<Value>) {
  const { name, chosen, onChoose, className } = card;
  return (
    <fieldset className="grid min-w-0 grid-cols-1">
      <legend className="mb-2 text-sm font-medium">{legend}</legend>
      <div className={cn('grid gap-2', columns)}>
        {options.map((value, index) => (
          <label
            key={index}
            className={cn(
              'relative flex cursor-pointer items-center justify-center rounded-md border border-input bg-card text-center transition-colors hover:bg-accent has-checked:border-primary has-checked:bg-accent has-checked:ring-1 has-checked:ring-primary has-disabled:cursor-not-allowed has-disabled:opacity-50 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-ring',
              className,
            )}
          >
            <input
              type="radio"
              name={name}
              checked={value === chosen}
              onChange={() => onChoose(value)}
              className="absolute inset-0 size-full cursor-pointer appearance-none rounded-md opacity-0"
            />
            {children(value)}
          </label>
        ))}
      </div>
      {note}
    </fieldset>
  );
}
