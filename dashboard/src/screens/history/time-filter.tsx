import { useState } from 'react';
import { Input } from '@/components/ui/input.tsx';
import { useNow } from '@/lib/use-now.ts';
import { FilterSelect } from './filter-select.tsx';
import { dayOf, namedRanges, type NamedRange, type TimeRange } from './time-ranges.ts';

interface TimeFilterProps {
  filters: TimeRange;
  onChange: (range: TimeRange) => void;
}

const choices = [
  ...Object.entries(namedRanges).map(([id, label]) => ({ id: id as NamedRange | 'days', label })),
  { id: 'days' as const, label: 'Choose days' },
];

/** A range by name, or the days that somebody chooses. */
export function TimeFilter({ filters: { range, from, to }, onChange }: TimeFilterProps) {
  const hasDays = from !== undefined || to !== undefined;
  const [choosesDays, setChoosesDays] = useState(false);
  const showsDays = range === undefined && (hasDays || choosesDays);
  const today = dayOf(useNow());
  return (
    <>
      <FilterSelect
        label="Time"
        none="All times"
        value={range ?? (showsDays ? 'days' : undefined)}
        choices={choices}
        onChange={(next) => {
          setChoosesDays(next === 'days');
          onChange({ range: next === 'days' ? undefined : next, from: undefined, to: undefined });
        }}
        className="col-span-2 sm:w-44"
      />
      {showsDays && (
        <div className="col-span-2 grid grid-cols-1 gap-2 min-[26rem]:grid-cols-2 sm:flex">
          <DayField
            label="From"
            value={from}
            max={to ?? today}
            onChange={(day) => onChange({ range: undefined, from: day, to })}
          />
          <DayField
            label="To"
            value={to}
            min={from}
            max={today}
            onChange={(day) => onChange({ range: undefined, from, to: day })}
          />
        </div>
      )}
    </>
  );
}

interface DayFieldProps {
  label: string;
  value: string | undefined;
  min?: string | undefined;
  max: string;
  onChange: (day: string | undefined) => void;
}

function DayField({ label, value, onChange, ...range }: DayFieldProps) {
  return (
    <label className="flex items-center gap-2">
      <span className="w-10 text-muted-foreground sm:w-auto">{label}</span>
      <Input
        type="date"
        value={value ?? ''}
        {...range}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.value)}
        className="sm:w-40"
      />
    </label>
  );
}
