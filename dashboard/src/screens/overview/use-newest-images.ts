import { useEffect, useState } from 'react';
import { useGenerations } from '@/api/queries.ts';

export const newestCount = 8;

/** Pages that are looked through for images: those of an account whose requests mostly fail may hold few. */
const mostPages = 4;

/** The newest completed generations of a license that have an image, at most `newestCount`. */
export function useNewestImages(licenseId: string) {
  const query = useGenerations(licenseId, { status: 'COMPLETED' }, newestCount);
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = query;
  const generations = data?.filter(({ outputs }) => outputs.length > 0).slice(0, newestCount);
  const [pages, setPages] = useState(1);
  const tooFew = generations !== undefined && generations.length < newestCount;
  const goOn = tooFew && pages < mostPages && hasNextPage && !isFetching && !isError;
  useEffect(() => {
    if (!goOn) return;
    setPages((count) => count + 1);
    void fetchNextPage();
  }, [goOn, fetchNextPage]);
  // A page without an image that has a next one says nothing yet.
  const searching = generations?.length === 0 && (goOn || isFetching);
  return { ...query, generations: searching ? undefined : generations };
}
