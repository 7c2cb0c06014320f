import { useRef, useState } from 'react';
import type { KeyAnswer } from '@/lib/types.ts';
import { EmptyState } from '@/components/states.tsx';
import { SwitchField } from '@/components/ui/switch.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/components/ui/tabs.tsx';
import { formatNumber } from '@/lib/format.ts';
import { useLicense, useLicenseChoice } from '@/license/license-choice.ts';
import { useNow } from '@/lib/use-now.ts';
import { KeyDialog, type ChosenKey } from './key-dialogs.tsx';
import { KeyList } from './key-list.tsx';
import { countKeys, filterKeys, keyFilters, type KeyFilter } from './key-view.ts';

const filters = Object.keys(keyFilters) as KeyFilter[];

interface KeyBrowserProps {
  /** Those that are loaded. */
  keys: KeyAnswer[];
  /** Whether there are older ones, so that the numbers are not all of them. */
  hasMore: boolean;
}

/** The account's keys, with filters, the form that changes one, and the question before one is revoked. */
export function KeyBrowser({ keys, hasMore }: KeyBrowserProps) {
  const { licenses } = useLicenseChoice();
  const { licenseId } = useLicense();
  const nowMs = useNow();
  const [filter, setFilter] = useState<KeyFilter>('active');
  const [onlyCurrent, setOnlyCurrent] = useState(true);
  const [chosen, setChosen] = useState<ChosenKey | null>(null);
  const panel = useRef<HTMLDivElement>(null);
  const focusNext = useRef<HTMLElement | null>(null);

  const looked = onlyCurrent ? keys.filter((key) => key.licenseId === licenseId) : keys;
  const shown = filterKeys(looked, filter, nowMs);
  const choose = (dialog: ChosenKey['dialog']) => (item: KeyAnswer, button: HTMLElement) => {
    focusNext.current = button;
    setChosen({ item, dialog });
  };
  const list = { licenses, nowMs, onEdit: choose('edit'), onRevoke: choose('revoke') };
  return (
    <>
      <Tabs value={filter} onValueChange={(value) => setFilter(value as KeyFilter)}>
        <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2">
          <FilterTabs counts={countKeys(looked, nowMs)} hasMore={hasMore} />
          {licenses.length > 1 && <OnlyCurrent checked={onlyCurrent} onChange={setOnlyCurrent} />}
        </div>
        {filters.map((name) => (
          <TabsContent key={name} value={name} ref={name === filter ? panel : undefined}>
            {name === filter && shown.length > 0 && (
              <KeyList keys={shown} label={listLabel(filter)} {...list} />
            )}
            {name === filter && shown.length === 0 && <NothingHere filter={filter} narrowed={onlyCurrent} />}
          </TabsContent>
        ))}
      </Tabs>
      {chosen !== null && (
        <KeyDialog
          {...chosen}
          onClose={() => setChosen(null)}
          onRevoked={() => {
            focusNext.current = neighbourOf(focusNext.current);
            setChosen(null);
          }}
          returnFocus={() => (focusNext.current ?? panel.current)?.focus({ preventScroll: true })}
        />
      )}
    </>
  );
}

/** The button of the next or the previous row. */
function neighbourOf(button: HTMLElement | null): HTMLElement | null {
  const row = button?.closest('tr, li');
  const buttonIn = (other: Element | null | undefined) => other?.querySelector('button') ?? null;
  return buttonIn(row?.nextElementSibling) ?? buttonIn(row?.previousElementSibling);
}

function FilterTabs({ counts, hasMore }: { counts: Record<KeyFilter, number>; hasMore: boolean }) {
  return (
    <TabsList aria-label="Which keys">
      {filters.map((name) => (
        <TabsTrigger key={name} value={name}>
          {keyFilters[name]}
          <span className="text-muted-foreground tabular-nums">
            {formatNumber(counts[name])}
            {hasMore && '+'}
          </span>
        </TabsTrigger>
      ))}
    </TabsList>
  );
}

function OnlyCurrent(control: { checked: boolean; onChange: (checked: boolean) => void }) {
  const label = (
    <span className="font-normal wrap-anywhere">
      Only <bdi>{useLicense().name}</bdi>
    </span>
  );
  return <SwitchField label={label} {...control} />;
}

function NothingHere({ filter, narrowed }: { filter: KeyFilter; narrowed: boolean }) {
  const where = narrowed ? ' of this license' : '';
  if (filter === 'inactive') {
    return (
      <EmptyState title={`No revoked or expired keys${where}`}>
        Keys that no longer work are listed here.
      </EmptyState>
    );
  }
  return (
    <EmptyState title={filter === 'active' ? `No active keys${where}` : `No keys${where}`}>
      Without an active key, programs can't call the API{narrowed ? ' for this license' : ''}. Create one to
      go on.
    </EmptyState>
  );
}

function listLabel(filter: KeyFilter): string {
  return filter === 'all' ? 'All keys' : `${keyFilters[filter]} keys`;
}
