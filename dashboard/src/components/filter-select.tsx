import { ChevronDown } from 'lucide-react';
import { cn } from '@/lib/cn.ts';
import { controlClasses } from './ui/input.tsx';

interface FilterSelectProps<Id extends string> {
  label: string;
  none: string;
  value: Id | undefined;
  choices: { id: Id; label: string }[];
  onChange: (value: Id | undefined) => void;
  className: string;
}

/** A native control, which opens the phone's own list on phones. */
export function FilterSelect<Id extends string>(props: FilterSelectProps<Id>) {
  const { label, none, value, choices, onChange, className } = props;
  return (
    <div className={cn('relative', className)}>
      <select
        aria-label={label}
        value={value ?? ''}
        onChange={({ target }) => onChange(choices.find(({ id }) => id === target.value)?.id)}
        className={cn(controlClasses, 'h-10 cursor-pointer appearance-none truncate pr-9')}
      >
        <option value="">{none}</option>
        {choices.map((choice) => (
          <option key={choice.id} value={choice.id}>
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
