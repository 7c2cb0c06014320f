import { ListChecks, RefreshCw } from 'lucide-react';
import { useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useRefreshAfterGeneration } from '@/api/queries.ts';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { isFiltered, readFilters, writeFilters, type HistoryFilters } from './filters.ts';
import { HistoryFilterBar } from './history-filter-bar.tsx';
import { HistoryList } from './history-list.tsx';
import { useSelection } from './selection-bar.tsx';
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
    bar.current?.querySelector('input')?.focus();
  };
  const selectButton = useRef<HTMLButtonElement>(null);
  const listKey = `${licenseId} ${search}`;
  const { selecting, begin } = useSelection(listKey, () => selectButton.current?.focus());
  return (
    <Page
      wide
      title="History"
      description="Every request of this license, newest first."
      actions={
        <>
          <Button
            ref={selectButton}
            variant="outline"
            aria-pressed={selecting !== null}
            onClick={selecting?.leave ?? begin}
            icon={ListChecks}
          >
            Select
          </Button>
          <RefreshButton licenseId={licenseId} />
        </>
      }
    >
      <HistoryFilterBar licenseId={licenseId} filters={filters} onChange={choose} onClear={clear} ref={bar} />
      <HistoryList
        key={listKey}
        licenseId={licenseId}
        filters={filters}
        onOpen={remember}
        onClear={isFiltered(filters) ? clear : null}
        selecting={selecting}
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
      icon={RefreshCw}
    >
      <span className="max-sm:sr-only">Refresh</span>
    </Button>
  );
}
