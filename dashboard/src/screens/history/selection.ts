import type { StoredGeneration } from '../../lib/types.ts';
import { formatCount } from '../../lib/format.ts';

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

type Deletable = Pick<StoredGeneration, 'outputs'>;

export function deletionQuestion(requests: readonly Deletable[]): { title: string; text: string } {
  const images = requests.reduce((sum, { outputs }) => sum + outputs.length, 0);
  const isOne = requests.length === 1;
  const prompts = isOne ? 'Its prompt' : 'Their prompts';
  const what =
    images === 0
      ? `${prompts} ${isOne ? 'is' : 'are'} deleted for good.`
      : `${prompts} and ${formatCount(images, 'image')} are deleted for good, and links to ${images === 1 ? 'the image' : 'the images'} stop working, also those that you handed out.`;
  return {
    title: isOne ? 'Delete this request?' : `Delete ${formatCount(requests.length, 'request')}?`,
    text: `${what} Credits stay spent, and the totals of your usage stay as they are. This can’t be undone.`,
  };
}
