import { isFinal } from '@/api/queries.ts';
import type { StoredGeneration } from '@/api/types.ts';
import type { CardChoice } from './history-card.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { selectedOf } from './selection.ts';
import type { Selecting } from './use-selection.ts';

/** A request that is still running can be neither deleted nor saved. */
function selectableIds(list: readonly StoredGeneration[]): string[] {
  return list.filter(({ status }) => isFinal(status)).map(({ id }) => id);
}

export function choiceOf(
  selecting: Selecting | null,
  list: readonly StoredGeneration[],
  id: string,
): CardChoice | null {
  return (
    selecting && {
      chosen: selecting.selection.ids.includes(id),
      toggle: (withShift) => selecting.toggle(selectableIds(list), id, withShift),
    }
  );
}

interface ListSelectionBarProps {
  list: readonly StoredGeneration[];
  selecting: Selecting;
}

export function ListSelectionBar({ list, selecting }: ListSelectionBarProps) {
  const selectable = selectableIds(list);
  return (
    <SelectionBar
      selected={selectedOf(list, selecting.selection)}
      selectable={selectable.length}
      onToggleAll={() => selecting.toggleAll(selectable)}
      onLeave={selecting.leave}
    />
  );
}
