import type { StoredGeneration } from '../../api/types.ts';

/** What is selected in a list. */
export interface Selection {
  ids: readonly string[];
  /** The request that a range of a click with Shift begins at. */
  anchor: string | null;
}

export const nothingSelected: Selection = { ids: [], anchor: null };

/**
 * After a click on a request's checkbox. With Shift all between the one before and this one become what this one becomes.
 * @param order the ids of the list, from top to bottom, that can be selected
 */
export function toggled(
  { ids, anchor }: Selection,
  order: readonly string[],
  id: string,
  withShift: boolean,
): Selection {
  const isOn = !ids.includes(id);
  const from = withShift && anchor !== null ? order.indexOf(anchor) : -1;
  const to = order.indexOf(id);
  const touched = from < 0 || to < 0 ? [id] : order.slice(Math.min(from, to), Math.max(from, to) + 1);
  const others = ids.filter((one) => !touched.includes(one));
  return { ids: isOn ? [...others, ...touched] : others, anchor: id };
}

/** Selects all, or nothing where all are selected. */
export function toggledAll({ ids }: Selection, order: readonly string[]): Selection {
  const isAll = order.every((id) => ids.includes(id));
  return { ids: isAll ? [] : order, anchor: null };
}

/** The selected requests in the order of the list. What is in the list no more is not selected either. */
export function selectedOf(list: readonly StoredGeneration[], { ids }: Selection): StoredGeneration[] {
  const wanted = new Set(ids);
  return list.filter(({ id }) => wanted.has(id));
}
