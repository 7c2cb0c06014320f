import { ListFilter, X } from 'lucide-react';
import { useEffect, useId, useState, type Ref } from 'react';
import { useIdentities, useKeys, useUsage } from '@/api/queries.ts';
import { SearchField } from '@/components/search-field.tsx';
import { statusLabel } from '@/components/status-badge.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Input } from '@/components/ui/input.tsx';
import { choicesOf, Select, type Choice } from '@/components/ui/select.tsx';
import { cn } from '@/lib/cn.ts';
import { statuses, typeLabels } from '@/lib/outputs.ts';
import { useNow } from '@/lib/use-now.ts';
import {
  countFilters,
  identityChoices,
  keyChoices,
  maxSearchLength,
  readSearch,
  type HistoryFilters,
  dayOf,
  namedRanges,
  type NamedRange,
  type TimeRange,
} from './filters.ts';

interface HistoryFilterBarProps {
  licenseId: string;
  filters: HistoryFilters;
  onChange: (filters: HistoryFilters) => void;
  onClear: () => void;
  ref: Ref<HTMLDivElement>;
}

export function HistoryFilterBar({ licenseId, filters, onChange, onClear, ref }: HistoryFilterBarProps) {
  const { search, ...others } = filters;
  const count = countFilters(filters);
  const chosen = countFilters(others);
  // Only phones hide them: there they would take the height of half a picture.
  const [isOpen, setIsOpen] = useState(chosen > 0);
  const choicesId = useId();
  return (
    <div ref={ref} role="search" aria-label="Filters" className="mb-6 flex flex-wrap gap-2">
      {/* Each search reads back through the history. */}
      <SearchField
        key={search ?? ''}
        search={search ?? ''}
        onSearch={(typed) => onChange({ ...filters, search: readSearch(typed) })}
        aria-label="Words in the prompt"
        placeholder="Search prompts"
        maxLength={maxSearchLength}
        className="min-w-0 grow basis-0 sm:max-w-sm sm:basis-48"
      />
      <Button
        variant="outline"
        className="sm:hidden"
        aria-expanded={isOpen}
        aria-controls={choicesId}
        onClick={() => setIsOpen(!isOpen)}
        icon={ListFilter}
      >
        {chosen === 0 ? 'Filters' : `Filters (${chosen})`}
      </Button>
      <div
        id={choicesId}
        className={cn('grid w-full grid-cols-2 gap-2 sm:contents', !isOpen && 'max-sm:hidden')}
      >
        <Selects licenseId={licenseId} filters={filters} onChange={onChange} />
        <TimeFilter filters={filters} onChange={(range) => onChange({ ...filters, ...range })} />
      </div>
      {count > 0 && (
        <Button variant="ghost" className="max-sm:w-full" onClick={onClear} icon={X}>
          {count === 1 ? 'Clear 1 filter' : `Clear ${count} filters`}
        </Button>
      )}
    </div>
  );
}

const selects = [
  { name: 'identityId', label: 'Identity', none: 'All identities' },
  { name: 'keyId', label: 'Made by', none: 'All keys' },
  { name: 'status', label: 'Status', none: 'All statuses' },
  { name: 'type', label: 'Type', none: 'All types' },
] as const;

function Selects({ licenseId, filters, onChange }: Omit<HistoryFilterBarProps, 'onClear' | 'ref'>) {
  const { identityId, keyId } = filters;
  const choices = {
    identityId: useIdentityChoices(licenseId, identityId),
    keyId: useKeyChoices(licenseId, keyId),
    status: statuses.map((id) => ({ id, label: statusLabel(id) })),
    type: choicesOf(typeLabels),
  };
  return selects.map(({ name, ...select }) => (
    <Select<string>
      key={name}
      {...select}
      className="sm:w-36"
      value={filters[name]}
      choices={choices[name]}
      onChange={(next) => onChange({ ...filters, [name]: next })}
    />
  ));
}

/** Every key of the account, fetched page by page: a filter without the older ones would hide them. */
function useKeyChoices(licenseId: string, chosenId: string | undefined) {
  const { data = [], hasNextPage, isFetching, isError, fetchNextPage } = useKeys();
  const needsMore = hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (needsMore) void fetchNextPage({ cancelRefetch: false });
  }, [needsMore, fetchNextPage]);
  return keyChoices(data, licenseId, chosenId);
}

function useIdentityChoices(licenseId: string, chosenId: string | undefined) {
  const { data: identities = [] } = useIdentities(licenseId);
  const { data: usage } = useUsage(licenseId);
  const used = Object.entries(usage?.aggregates.byIdentity ?? {}).map(([id, tally]) => ({ id, ...tally }));
  const met = usage?.history.map(({ identity }) => identity) ?? [];
  return identityChoices([...identities, ...used, ...met], chosenId);
}

interface TimeFilterProps {
  filters: TimeRange;
  onChange: (range: TimeRange) => void;
}

const timeChoices: Choice<NamedRange | 'days'>[] = choicesOf({ ...namedRanges, days: 'Choose days' });

function TimeFilter({ filters: { range, from, to }, onChange }: TimeFilterProps) {
  const hasDays = from !== undefined || to !== undefined;
  const [choosesDays, setChoosesDays] = useState(false);
  const showsDays = range === undefined && (hasDays || choosesDays);
  const today = dayOf(useNow());
  return (
    <>
      <Select
        label="Time"
        none="All times"
        value={range ?? (showsDays ? 'days' : undefined)}
        choices={timeChoices}
        onChange={(next) => {
          setChoosesDays(next === 'days');
          onChange({ range: next === 'days' ? undefined : next, from: undefined, to: undefined });
        }}
        className="col-span-2 sm:w-36"
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
