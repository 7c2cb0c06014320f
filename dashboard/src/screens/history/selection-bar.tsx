import { Columns2, Sheet, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useApi } from '@/api/client.ts';
import { allPages } from '@/api/patiently.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { formatCount, formatNumber } from '@/lib/format.ts';
import { saveCsv } from '@/lib/download.ts';
import { requestsCsv } from '@/lib/requests-csv.ts';
import { useAttempt } from '@/components/use-attempt.ts';
import { ErrorState } from '@/components/states.tsx';
import { isFinal, type GenerationFilters } from '@/api/queries.ts';
import { DeleteButton, ZipButton } from './request-actions.tsx';
import type { CardChoice } from './history-card.tsx';
import { nothingSelected, selectedOf, toggled, toggledAll, type Selection } from './selection.ts';

interface SelectionBarProps {
  list: readonly StoredGeneration[];
  /** Whether there are more than are loaded. */
  hasMore: boolean;
  licenseId: string;
  filters: GenerationFilters;
  selecting: Selecting;
}

/** What can be done with the selected requests. It stays at the bottom; `index.css` keeps what has the focus beside it. */
export function SelectionBar({ list: loaded, hasMore, licenseId, filters, selecting }: SelectionBarProps) {
  const { matching, pending, error, load } = useMatching(licenseId, filters);
  const list = matching.length > loaded.length ? matching : loaded;
  const selectable = selectableIds(list);
  // In the order of the list.
  const selected = selectedOf(list, selecting.selection);
  const isAll = selectable.length > 0 && selected.length === selectable.length;
  return (
    <div
      role="group"
      aria-label="Selected requests"
      className="selection-bar sticky bottom-[calc(4rem+1px+env(safe-area-inset-bottom))] z-20 -mx-4 mt-6 grid gap-2 border-t border-border bg-background px-4 py-3 sm:-mx-6 sm:px-6 short:static lg:bottom-0 lg:-mx-10 lg:px-10"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="flex grow flex-wrap items-center gap-2">
          <p role="status" className="font-medium tabular-nums">
            {formatNumber(selected.length)} selected
          </p>
          <Button
            variant="ghost"
            size="sm"
            disabled={selectable.length === 0}
            onClick={() => selecting.toggleAll(selectable)}
          >
            {isAll
              ? 'Select none'
              : `Select all ${formatNumber(selectable.length)}${hasMore && matching.length === 0 ? ' loaded' : ''}`}
          </Button>
          {hasMore && !(isAll && matching.length > 0) && (
            <MatchingButton read={pending ? matching.length : null} onClick={() => load(selecting.select)} />
          )}
          <Button
            label="Leave the selection"
            aria-keyshortcuts="Escape"
            onClick={selecting.leave}
            className="ml-auto sm:order-first sm:ml-0"
            icon={X}
          />
        </div>
        <SelectionActions selected={selected} onBegun={selecting.leave} />
      </div>
      {error !== null && <ErrorState error={error} className="sm:p-4" />}
    </div>
  );
}

/** @param props.read how many are read by now; null before it is pressed */
function MatchingButton({ read, onClick }: { read: number | null; onClick: () => void }) {
  return (
    <Button variant="ghost" size="sm" pending={read !== null} className="tabular-nums" onClick={onClick}>
      {read === null ? 'Select all that match' : `Reading: ${formatNumber(read)}`}
    </Button>
  );
}

const phoneIcon = 'max-sm:px-3';

function SelectionActions({ selected, onBegun }: { selected: StoredGeneration[]; onBegun: () => void }) {
  const save = (): void =>
    saveCsv(requestsCsv(selected), `requests-${new Date().toISOString().slice(0, 10)}.csv`);
  return (
    <div className="flex flex-wrap gap-2 max-sm:w-full [&>*]:max-sm:grow">
      <CompareLink selected={selected} />
      <Button
        variant="outline"
        disabled={selected.length === 0}
        onClick={save}
        className={phoneIcon}
        title="Prompts and parameters"
        icon={Sheet}
      >
        CSV
      </Button>
      <ZipButton requests={selected} className={phoneIcon}>
        <span>
          <span className="max-sm:sr-only">Download </span>ZIP
        </span>
      </ZipButton>
      <DeleteButton requests={selected} onBegun={onBegun} variant="destructive" className={phoneIcon}>
        Delete
      </DeleteButton>
    </div>
  );
}

/** All requests that match, also those that the list has not loaded. */
function useMatching(licenseId: string, filters: GenerationFilters) {
  const api = useApi();
  const [matching, setMatching] = useState<StoredGeneration[]>([]);
  const { pending, error, attempt } = useAttempt();
  const load = (onLoaded: (ids: string[]) => void): void =>
    attempt(async (signal) => {
      const found: StoredGeneration[] = [];
      const read = (cursor?: string) =>
        api.request('GET /generate', { query: { licenseId, limit: 100, cursor, ...filters }, signal });
      for await (const { generations } of allPages(read, { signal })) {
        found.push(...generations.filter(({ status }) => isFinal(status)));
        setMatching([...found]);
      }
      onLoaded(found.map(({ id }) => id));
    });
  return { matching, pending, error, load };
}

function CompareLink({ selected }: { selected: StoredGeneration[] }) {
  const [a, b] = selected;
  const label = (
    <>
      <Columns2 aria-hidden />
      Compare
    </>
  );
  if (a === undefined || b === undefined || selected.length > 2) {
    return (
      <Button variant="outline" disabled title={`Select ${formatCount(2, 'request')}`} className={phoneIcon}>
        {label}
      </Button>
    );
  }
  return (
    <LinkButton
      variant="outline"
      className={phoneIcon}
      to={`/history/compare?${new URLSearchParams({ a: a.id, b: b.id }).toString()}`}
    >
      {label}
    </LinkButton>
  );
}

/** A request that is still running can be neither deleted nor saved. */
function selectableIds(list: readonly StoredGeneration[]): string[] {
  return list.filter(({ status }) => isFinal(status)).map(({ id }) => id);
}

export function choiceOf(
  selecting: Selecting | null,
  list: readonly StoredGeneration[],
  id: string,
): CardChoice | null {
  return (
    selecting && {
      chosen: selecting.selection.ids.includes(id),
      toggle: (withShift) => selecting.toggle(selectableIds(list), id, withShift),
    }
  );
}

export interface Selecting {
  selection: Selection;
  toggle: (order: readonly string[], id: string, withShift: boolean) => void;
  toggleAll: (order: readonly string[]) => void;
  select: (ids: readonly string[]) => void;
  leave: () => void;
}

/**
 * The selection of one list, by its key: another list has none.
 * @param onLeft called when the selection was left
 */
export function useSelection(
  listKey: string,
  onLeft: () => void,
): { selecting: Selecting | null; begin: () => void } {
  const [state, setState] = useState<{ listKey: string; selection: Selection } | null>(null);
  const isOn = state?.listKey === listKey;
  const leave = (): void => {
    setState(null);
    onLeft();
  };
  useEscape(isOn ? leave : null);
  const change = (next: (selection: Selection) => Selection): void =>
    setState((before) => before && { ...before, selection: next(before.selection) });
  return {
    begin: () => setState({ listKey, selection: nothingSelected }),
    selecting: isOn
      ? {
          selection: state.selection,
          toggle: (order, id, withShift) => change((selection) => toggled(selection, order, id, withShift)),
          toggleAll: (order) => change((selection) => toggledAll(selection, order)),
          select: (ids) => change(() => ({ ids, anchor: null })),
          leave,
        }
      : null,
  };
}

/** Where Escape has a meaning of its own. */
const ownEscape = 'input[type=search], [role=dialog], [role=alertdialog], [role=menu]';

function useEscape(leave: (() => void) | null): void {
  useEffect(() => {
    if (leave === null) return;
    const press = (event: KeyboardEvent): void => {
      const isTaken =
        event.defaultPrevented ||
        (event.target instanceof Element && event.target.closest(ownEscape) !== null);
      if (event.key === 'Escape' && !isTaken) leave();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [leave]);
}
