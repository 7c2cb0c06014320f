import { KeyRound, Plus } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import { useKeys } from '@/api/queries.ts';
import { Loading } from '@/components/loading.tsx';
import { EmptyState, Loaded, More } from '@/components/states.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { withoutParameters } from '@/lib/parameters.ts';
import type { KeyAnswer } from '@/lib/types.ts';
import { SwitchField } from '@/components/ui/switch.tsx';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/components/ui/tabs.tsx';
import { formatNumber } from '@/lib/format.ts';
import { useLicense, useLicenseChoice } from '@/license/license-choice.ts';
import { useNow } from '@/lib/use-now.ts';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { Activity, RefusedCalls } from './license-log.tsx';
import { KeyDialog, type ChosenKey } from './key-dialogs.tsx';
import { KeyList } from './key-list.tsx';
import { countKeys, filterKeys, keyFilters, type KeyFilter } from './key-view.ts';

export default function KeysScreen() {
  const list = useKeys();
  const { data: keys, hasNextPage: hasMore } = list;
  const [creating, setCreating] = useCreating();
  const createButton = useRef<HTMLButtonElement>(null);
  const create = (): void => {
    setCreating(true);
    // Keys may have been made elsewhere.
    void list.refetch();
  };
  const button = (
    <Button ref={createButton} onClick={create} icon={Plus}>
      Create key
    </Button>
  );
  const none = keys !== undefined && keys.length === 0 && !hasMore;
  return (
    <Page
      title="Keys"
      description="Your programs call the API with a key. Each belongs to one license and spends its credits."
      actions={none ? undefined : button}
    >
      <Loaded
        query={list}
        skeleton={<Loading label="Loading your keys" bars={['h-10 w-80 max-w-full', 'h-64']} />}
      >
        {(loaded) => (
          <>
            {none ? <NoKeys action={button} /> : <KeyBrowser keys={loaded} hasMore={hasMore} />}
            {hasMore && (
              <div className="mt-6 grid">
                <More list={list} labels={['Show older keys', 'Loading older keys']} />
              </div>
            )}
            <RefusedCalls keys={loaded} />
            <Activity />
          </>
        )}
      </Loaded>
      {creating && (
        <CreateKeyDialog
          keys={keys ?? []}
          onClose={() => setCreating(false)}
          returnFocus={() => createButton.current?.focus()}
        />
      )}
    </Page>
  );
}

/** `/keys?new=1` opens the dialog; the address forgets it, so that going back or reloading does not open it again. */
function useCreating(): [boolean, (creating: boolean) => void] {
  const [parameters, setParameters] = useSearchParams();
  const asked = parameters.get('new') === '1';
  const [creating, setCreating] = useState(asked);
  useEffect(() => {
    if (!asked) return;
    setCreating(true);
    setParameters(withoutParameters('new'), { replace: true });
  }, [asked, setParameters]);
  return [creating, setCreating];
}

function NoKeys({ action }: { action: ReactNode }) {
  return (
    <EmptyState icon={KeyRound} title="No keys yet" action={action}>
      Create a key to call the API from your own programs. The{' '}
      <Link to="/quickstart" className="underline underline-offset-4 hover:decoration-2">
        quickstart
      </Link>{' '}
      shows the first request.
    </EmptyState>
  );
}

const filters = Object.keys(keyFilters) as KeyFilter[];

interface KeyBrowserProps {
  keys: KeyAnswer[];
  /** Whether there are older ones, so that the numbers are not all of them. */
  hasMore: boolean;
}

/** The account's keys, with filters, the form that changes one, and the question before one is revoked. */
function KeyBrowser({ keys, hasMore }: KeyBrowserProps) {
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
