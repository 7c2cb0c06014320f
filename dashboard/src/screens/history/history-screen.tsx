import { ChevronDown, RefreshCw, X } from 'lucide-react';
import { useRef, useState, type Ref } from 'react';
import { useSearchParams } from 'react-router';
import { useIdentities, useRefreshAfterGeneration, useUsage } from '@/api/queries.ts';
import { statusLabel } from '@/components/status-badge.tsx';
import { Button } from '@/components/ui/button.tsx';
import { controlClasses } from '@/components/ui/input.tsx';
import { Page } from '@/layout/page.tsx';
import { cn } from '@/lib/cn.ts';
import { typeLabels } from '@/lib/outputs.ts';
import { useLicense } from '@/license/license-choice.ts';
import {
  identityChoices,
  isFiltered,
  readFilters,
  statuses,
  types,
  writeFilters,
  type HistoryFilters,
} from './filters.ts';
import { HistoryList } from './history-list.tsx';
import { useScrollRestoration } from './use-scroll-restoration.ts';

export default function HistoryScreen() {
  const { licenseId } = useLicense();
  const [query, setQuery] = useSearchParams();
  const { remember } = useScrollRestoration();
  const filters = readFilters(query);
  const search = writeFilters(filters);
  const choose = (next: HistoryFilters): void => setQuery(writeFilters(next));
  const bar = useRef<HTMLDivElement>(null);
  const clear = (): void => {
    choose({});
    // The button that was pressed goes away with the filters.
    bar.current?.querySelector('select')?.focus();
  };
  return (
    <Page
      wide
      title="History"
      description="Every request of this license, newest first."
      actions={<RefreshButton licenseId={licenseId} />}
    >
      <HistoryFilterBar licenseId={licenseId} filters={filters} onChange={choose} onClear={clear} ref={bar} />
      <HistoryList
        key={`${licenseId} ${search}`}
        licenseId={licenseId}
        filters={filters}
        onOpen={remember}
        onClear={isFiltered(filters) ? clear : null}
      />
    </Page>
  );
}

function RefreshButton({ licenseId }: { licenseId: string }) {
  const refresh = useRefreshAfterGeneration();
  const [pending, setPending] = useState(false);
  const run = async (): Promise<void> => {
    setPending(true);
    await refresh(licenseId);
    setPending(false);
  };
  return (
    <Button
      variant="outline"
      pending={pending}
      onClick={() => void run()}
      className="max-sm:size-10 max-sm:px-0"
    >
      {!pending && <RefreshCw aria-hidden />}
      <span className="max-sm:sr-only">Refresh</span>
    </Button>
  );
}

interface HistoryFilterBarProps {
  licenseId: string;
  filters: HistoryFilters;
  onChange: (filters: HistoryFilters) => void;
  onClear: () => void;
  ref: Ref<HTMLDivElement>;
}

function HistoryFilterBar({ licenseId, filters, onChange, onClear, ref }: HistoryFilterBarProps) {
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
        onChange={(next) => onChange({ ...filters, identityId: next })}
        className="col-span-2 sm:w-48"
      />
      <FilterSelect
        label="Status"
        none="All statuses"
        value={status}
        choices={statuses.map((id) => ({ id, label: statusLabel(id) }))}
        onChange={(next) => onChange({ ...filters, status: next })}
        className="sm:w-40"
      />
      <FilterSelect
        label="Type"
        none="All types"
        value={type}
        choices={types.map((id) => ({ id, label: typeLabels[id] }))}
        onChange={(next) => onChange({ ...filters, type: next })}
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
  onChange: (value: Id | undefined) => void;
  className: string;
}

/** A native control, which opens the phone's own list on phones. */
function FilterSelect<Id extends string>(props: FilterSelectProps<Id>) {
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
