import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';

/** Fetches what the screen shows once more, when somebody asks for it. */
export function useRefresh(licenseId: string) {
  const queries = useQueryClient();
  const [refreshing, setRefreshing] = useState(false);
  const [outcome, setOutcome] = useState('');
  const refresh = async (): Promise<void> => {
    setRefreshing(true);
    setOutcome('');
    const keys = [['usage', licenseId], ['generations', licenseId], ['licenses']];
    await Promise.all(keys.map((queryKey) => queries.refetchQueries({ queryKey, type: 'active' })));
    const failed = keys.some((queryKey) =>
      queries
        .getQueryCache()
        .findAll({ queryKey, type: 'active' })
        .some(({ state }) => state.status === 'error'),
    );
    // What failed says so itself, where it stands.
    setOutcome(failed ? '' : 'The overview is up to date.');
    setRefreshing(false);
  };
  return { refresh, refreshing, outcome };
}
