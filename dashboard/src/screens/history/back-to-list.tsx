import { ChevronLeft, ChevronRight, ArrowLeft } from 'lucide-react';
import { useEffect } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { useGenerations } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import { Button } from '@/components/ui/button.tsx';
import { useLicense } from '@/license/license-choice.ts';
import { readFilters } from './filters.ts';
import { neighbours } from './request-view.ts';

/** The query of the list that led here. Null when another page did. */
function useListSearch(): string | null {
  const { state } = useLocation() as { state: { listSearch?: unknown } | null };
  return typeof state?.listSearch === 'string' ? state.listSearch : null;
}

/** Goes back to the same place in the list, like the browser's Back button. */
export function BackToList() {
  const listSearch = useListSearch();
  const navigate = useNavigate();
  return (
    <Button asChild variant="ghost" size="sm" className="-ml-3 text-muted-foreground">
      <Link
        to={{ pathname: '/history', search: listSearch ?? '' }}
        onClick={(event) => {
          const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
          if (listSearch === null || !plain) return;
          event.preventDefault();
          void navigate(-1);
        }}
      >
        <ArrowLeft aria-hidden />
        History
      </Link>
    </Button>
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
    readFilters(new URLSearchParams(listSearch)),
  );
  const { newer, older, isLast } = neighbours(data ?? [], id);
  const needsMore = isLast && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (needsMore) void fetchNextPage({ cancelRefetch: false });
  }, [needsMore, fetchNextPage]);
  if (data === undefined) return null;
  return (
    <div role="group" aria-label="Requests beside this one" className="flex gap-1">
      <NeighbourLink id={newer} label="Newer request" listSearch={listSearch} icon={ChevronLeft} />
      <NeighbourLink id={older} label="Older request" listSearch={listSearch} icon={ChevronRight} />
    </div>
  );
}

interface NeighbourLinkProps {
  id: string | null;
  label: string;
  listSearch: string;
  icon: typeof ChevronLeft;
}

function NeighbourLink({ id, label, listSearch, icon: Icon }: NeighbourLinkProps) {
  if (id === null) {
    return (
      <Button variant="outline" size="icon-sm" disabled aria-label={label}>
        <Icon aria-hidden />
      </Button>
    );
  }
  return (
    <Button asChild variant="outline" size="icon-sm">
      {/* Replaces this history entry, so that Back still leads to the list. */}
      <Link to={`/history/${id}`} replace state={{ listSearch }} aria-label={label} title={label}>
        <Icon aria-hidden />
      </Link>
    </Button>
  );
}
