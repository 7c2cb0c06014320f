import { ChevronDown } from 'lucide-react';
import { use } from 'react';
import { cn } from '@/lib/cn.ts';
import { ControlContext, controlClasses } from './input.tsx';

export interface Choice<Id extends string> {
  id: Id;
  label: string;
  disabled?: boolean;
}

interface SelectProps<Id extends string> {
  /** The name of one that stands in no `Field`. */
  label?: string;
  /** What stands for no choice, where there may be none. */
  none?: string;
  value: Id | '' | undefined;
  choices: readonly Choice<Id>[];
  onChange: (value: Id | undefined) => void;
  disabled?: boolean;
  className?: string;
}

/** A native control, which opens the phone's own list on phones. */
export function Select<Id extends string>(props: SelectProps<Id>) {
  const { label, none, value = '', choices, onChange, disabled = false, className } = props;
  return (
    <div className={cn('relative', className)}>
      <select
        {...use(ControlContext)}
        aria-label={label}
        value={value}
        disabled={disabled}
        onChange={({ target }) => onChange(choices.find(({ id }) => id === target.value)?.id)}
        className={cn(controlClasses, 'h-10 cursor-pointer appearance-none truncate pr-9')}
      >
        {none !== undefined && <option value="">{none}</option>}
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id} disabled={choice.disabled}>
            {choice.label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden
        className="pointer-events-none absolute top-3 right-3 size-4 text-muted-foreground"
      />
    </div>
  );
}

export function choicesOf<Id extends string>(labels: Readonly<Record<Id, string>>): Choice<Id>[] {
  return Object.entries<string>(labels).map(([id, label]) => ({ id: id as Id, label }));
}
