import { ArrowLeft, ChevronLeft, ChevronRight, Columns2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { useGenerations, type GenerationFilters } from '@/api/queries.ts';
import type { StoredGeneration } from '@/lib/types.ts';
import { Button, LinkButton } from '@/components/ui/button.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { readFilters, toApiFilters, type HistoryFilters } from './filters.ts';
import { neighbours } from './request-view.ts';

/** The query of the list that led here. Null when another page did. */
export function useListSearch(): string | null {
  const { state } = useLocation() as { state: { listSearch?: unknown } | null };
  return typeof state?.listSearch === 'string' ? state.listSearch : null;
}

/** Goes back to the same place in the list, like the browser's Back button. */
export function BackToList() {
  const listSearch = useListSearch();
  const navigate = useNavigate();
  return (
    <LinkButton
      variant="ghost"
      size="sm"
      className="-ml-3 text-muted-foreground"
      to={{ pathname: '/history', search: listSearch ?? '' }}
      onClick={(event) => {
        const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
        if (listSearch === null || !plain) return;
        event.preventDefault();
        void navigate(-1);
      }}
      icon={ArrowLeft}
    >
      History
    </LinkButton>
  );
}

/** The newer and the older request of the list that the visit came from. */
export function Neighbours({ generation }: { generation: StoredGeneration }) {
  const { licenseId } = useLicense();
  const listSearch = useListSearch();
  if (listSearch === null || generation.licenseId !== licenseId) return null;
  return <ListNeighbours licenseId={licenseId} listSearch={listSearch} id={generation.id} />;
}

interface ListNeighboursProps {
  licenseId: string;
  listSearch: string;
  id: string;
}

function ListNeighbours({ licenseId, listSearch, id }: ListNeighboursProps) {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useGenerations(
    licenseId,
    useApiFilters(readFilters(new URLSearchParams(listSearch))),
  );
  const { newer, older, isLast } = neighbours(data ?? [], id);
  const needsMore = isLast && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (needsMore) void fetchNextPage({ cancelRefetch: false });
  }, [needsMore, fetchNextPage]);
  useArrowKeys({ ArrowLeft: newer, ArrowRight: older }, listSearch);
  if (data === undefined) return null;
  const other = older ?? newer;
  return (
    <div role="group" aria-label="Requests beside this one" className="flex gap-1">
      {other !== null && (
        <LinkButton
          variant="ghost"
          size="sm"
          className="text-muted-foreground"
          to={`/history/compare?a=${other}&b=${id}`}
          title="Compare with the request beside it"
          icon={Columns2}
        >
          Compare<span className="sr-only"> with the {older === null ? 'newer' : 'older'} request</span>
        </LinkButton>
      )}
      <NeighbourLink
        id={newer}
        label="Newer request"
        keys="ArrowLeft"
        listSearch={listSearch}
        icon={ChevronLeft}
      />
      <NeighbourLink
        id={older}
        label="Older request"
        keys="ArrowRight"
        listSearch={listSearch}
        icon={ChevronRight}
      />
    </div>
  );
}

/** Controls that use the arrow keys themselves. */
const ownArrows =
  'input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu]';

/** Goes to the request beside this one with a key, as with its link. */
function useArrowKeys(ids: Record<'ArrowLeft' | 'ArrowRight', string | null>, listSearch: string): void {
  const navigate = useNavigate();
  const { ArrowLeft: left, ArrowRight: right } = ids;
  useEffect(() => {
    const go = (event: KeyboardEvent): void => {
      const id = event.key === 'ArrowLeft' ? left : event.key === 'ArrowRight' ? right : null;
      const isPlain = !event.altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey;
      const isTaken =
        event.defaultPrevented ||
        (event.target instanceof Element && event.target.closest(ownArrows) !== null);
      if (id === null || !isPlain || isTaken) return;
      event.preventDefault();
      void navigate(`/history/${id}`, { replace: true, state: { listSearch } });
    };
    document.addEventListener('keydown', go);
    return () => document.removeEventListener('keydown', go);
  }, [left, right, listSearch, navigate]);
}

interface NeighbourLinkProps {
  id: string | null;
  label: string;
  keys: string;
  listSearch: string;
  icon: typeof ChevronLeft;
}

function NeighbourLink({ id, label, keys, listSearch, icon }: NeighbourLinkProps) {
  if (id === null) {
    return <Button variant="outline" disabled label={label} icon={icon} />;
  }
  return (
    <LinkButton
      variant="outline"
      to={`/history/${id}`}
      // Back still leads to the list.
      replace
      state={{ listSearch }}
      label={label}
      aria-keyshortcuts={keys}
      icon={icon}
    />
  );
}

/** What the API is asked for. Named ranges count from the day on which the screen was opened. */
export function useApiFilters(filters: HistoryFilters): GenerationFilters {
  const { billingPeriodStart } = useLicense();
  const [nowMs] = useState(Date.now);
  return toApiFilters(filters, nowMs, billingPeriodStart);
}
