import { ChevronDown, X } from 'lucide-react';
import type { Ref } from 'react';
import { useIdentities, useUsage } from '@/api/queries.ts';
import { statusLabel } from '@/components/status-badge.tsx';
import { Button } from '@/components/ui/button.tsx';
import { controlLooks } from '@/components/ui/input.tsx';
import { cn } from '@/lib/cn.ts';
import { typeLabels } from '@/lib/type-labels.ts';
import { isFiltered, statuses, types, type HistoryFilters } from './filters.ts';
import { identityChoices } from './identity-choices.ts';

interface HistoryFilterBarProps {
  licenseId: string;
  filters: HistoryFilters;
  onChange: (filters: HistoryFilters) => void;
  onClear: () => void;
  ref: Ref<HTMLDivElement>;
}

export function HistoryFilterBar({ licenseId, filters, onChange, onClear, ref }: HistoryFilterBarProps) {
  const { identityId, status, type } = filters;
  const identities = useIdentityChoices(licenseId, identityId);
  return (
    <div
      ref={ref}
      role="search"
      aria-label="Filters"
      className="mb-6 grid grid-cols-2 gap-2 sm:flex sm:flex-wrap"
    >
      <FilterSelect
        label="Identity"
        none="All identities"
        value={identityId}
        choices={identities}
        onChange={(next) =>
          onChange({ ...without(filters, 'identityId'), ...(next && { identityId: next }) })
        }
        className="col-span-2 sm:w-48"
      />
      <FilterSelect
        label="Status"
        none="All statuses"
        value={status}
        choices={statuses.map((id) => ({ id, label: statusLabel(id) }))}
        onChange={(next) => onChange({ ...without(filters, 'status'), ...(next && { status: next }) })}
        className="sm:w-40"
      />
      <FilterSelect
        label="Type"
        none="All types"
        value={type}
        choices={types.map((id) => ({ id, label: typeLabels[id] }))}
        onChange={(next) => onChange({ ...without(filters, 'type'), ...(next && { type: next }) })}
        className="sm:w-40"
      />
      {isFiltered(filters) && (
        <Button variant="ghost" className="col-span-2" onClick={onClear}>
          <X aria-hidden />
          Clear filters
        </Button>
      )}
    </div>
  );
}

function useIdentityChoices(licenseId: string, chosenId: string | undefined) {
  const { data: identities = [] } = useIdentities(licenseId);
  const { data: usage } = useUsage(licenseId);
  const used = Object.entries(usage?.aggregates.byIdentity ?? {}).map(([id, tally]) => ({ id, ...tally }));
  const met = usage?.history.map(({ identity }) => identity) ?? [];
  return identityChoices([...identities, ...used, ...met], chosenId);
}

interface FilterSelectProps<Id extends string> {
  label: string;
  /** The choice that narrows nothing. */
  none: string;
  value: Id | undefined;
  choices: { id: Id; label: string }[];
  onChange: (value: Id | null) => void;
  className: string;
}

/** The browser's own control: on a phone it opens the phone's own list. */
function FilterSelect<Id extends string>(props: FilterSelectProps<Id>) {
  const { label, none, value, choices, onChange, className } = props;
  return (
    <div className={cn('relative', className)}>
      <select
        aria-label={label}
        value={value ?? ''}
        onChange={({ target }) => onChange(choices.find(({ id }) => id === target.value)?.id ?? null)}
        className={cn(controlLooks, 'h-10 cursor-pointer appearance-none truncate pr-9')}
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

function without(filters: HistoryFilters, name: keyof HistoryFilters): HistoryFilters {
  const { [name]: _, ...rest } = filters;
  return rest;
}
