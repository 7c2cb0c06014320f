import { Columns2, Trash2, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { Link } from 'react-router';
import type { StoredGeneration } from '@/api/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { formatCount, formatNumber } from '@/lib/format.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { ZipButton } from './zip-button.tsx';

interface SelectionBarProps {
  /** In the order of the list. */
  selected: StoredGeneration[];
  /** How many of the loaded requests can be selected. */
  selectable: number;
  onToggleAll: () => void;
  onLeave: () => void;
}

/** What can be done with the selected requests. It stays at the bottom; `index.css` keeps what has the focus beside it. */
export function SelectionBar({ selected, selectable, onToggleAll, onLeave }: SelectionBarProps) {
  const isAll = selectable > 0 && selected.length === selectable;
  return (
    <div
      role="group"
      aria-label="Selected requests"
      className="selection-bar sticky bottom-[calc(4rem+1px+env(safe-area-inset-bottom))] z-20 -mx-4 mt-6 grid gap-2 border-t border-border bg-background px-4 py-3 sm:-mx-6 sm:px-6 short:static lg:bottom-0 lg:-mx-10 lg:px-10"
    >
      <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <div className="flex grow items-center gap-2">
          <p role="status" className="font-medium tabular-nums">
            {formatNumber(selected.length)} selected
          </p>
          <Button variant="ghost" size="sm" disabled={selectable === 0} onClick={onToggleAll}>
            {isAll ? 'Select none' : `Select all ${formatNumber(selectable)} loaded`}
          </Button>
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label="Leave the selection"
            aria-keyshortcuts="Escape"
            title="Leave the selection"
            onClick={onLeave}
            className="ml-auto sm:order-first sm:ml-0"
          >
            <X aria-hidden />
          </Button>
        </div>
        <SelectionActions selected={selected} />
      </div>
    </div>
  );
}

const phoneIcon = 'max-sm:px-3';
const zipLabel = (
  <span>
    <span className="max-sm:sr-only">Download </span>ZIP
  </span>
);

function SelectionActions({ selected }: Pick<SelectionBarProps, 'selected'>) {
  const [asksDeletion, setAsksDeletion] = useState(false);
  const bar = useRef<HTMLDivElement>(null);
  const none = selected.length === 0;
  return (
    <div ref={bar} className="flex gap-2 max-sm:w-full [&>*]:max-sm:grow">
      <CompareLink selected={selected} />
      <ZipButton requests={selected} label={zipLabel} className={phoneIcon} />
      <Button
        variant="destructive"
        disabled={none}
        onClick={() => setAsksDeletion(true)}
        className={phoneIcon}
      >
        <Trash2 aria-hidden />
        Delete
      </Button>
      {asksDeletion && (
        <DeleteDialog
          requests={selected}
          onClose={() => setAsksDeletion(false)}
          onEnded={({ failures }) => {
            if (failures.length === 0) setAsksDeletion(false);
          }}
          // The button that was pressed is off once nothing is selected.
          returnFocus={() => focusFirst(bar.current?.closest('[role=group]'))}
        />
      )}
    </div>
  );
}

function focusFirst(group: Element | null | undefined): void {
  group?.querySelector<HTMLElement>('button:enabled')?.focus();
}

/** Two requests side by side. */
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
    <Button asChild variant="outline" className={phoneIcon}>
      <Link to={`/history/compare?${new URLSearchParams({ a: a.id, b: b.id }).toString()}`}>{label}</Link>
    </Button>
  );
}
