import { ListChecks } from 'lucide-react';
import { useRef } from 'react';
import { Link, useSearchParams } from 'react-router';
import { RefreshButton } from '@/components/refresh-button.tsx';
import { Button } from '@/components/ui/button.tsx';
import { Page } from '@/layout/page.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { isFiltered, readFilters, writeFilters, type HistoryFilters } from './filters.ts';
import { HistoryFilterBar } from './history-filter-bar.tsx';
import { HistoryList } from './history-list.tsx';
import { useSelection } from './selection-bar.tsx';
import { useScrollRestoration } from './use-scroll-restoration.ts';

const description = (
  <>
    Every request of this license that was accepted, newest first. Those that were refused are among all{' '}
    <Link to="/requests" className="underline underline-offset-4">
      requests
    </Link>
    .
  </>
);

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
      description={description}
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
          <RefreshButton licenseId={licenseId} compact />
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
