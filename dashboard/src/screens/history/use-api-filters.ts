import { useState } from 'react';
import type { GenerationFilters } from '@/api/queries.ts';
import { useLicense } from '@/license/license-choice.ts';
import { toApiFilters, type HistoryFilters } from './filters.ts';

/** What the API is asked for. Named ranges count from the day on which the screen was opened. */
export function useApiFilters(filters: HistoryFilters): GenerationFilters {
  const { billingPeriodStart } = useLicense();
  const [nowMs] = useState(Date.now);
  return toApiFilters(filters, nowMs, billingPeriodStart);
}
