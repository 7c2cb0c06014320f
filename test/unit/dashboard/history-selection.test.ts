import { expect, test } from '@jest/globals';
import {
  deletionQuestion,
  nothingSelected,
  selectedOf,
  toggled,
  toggledAll,
  type Selection,
} from '../../../dashboard/src/screens/history/selection.ts';
import type { StoredGeneration } from '../../../dashboard/src/lib/types.ts';

const order = ['a', 'b', 'c', 'd', 'e'];

function clicks(...steps: [id: string, withShift?: boolean][]): Selection {
  return steps.reduce(
    (before, [id, withShift = false]) => toggled(before, order, id, withShift),
    nothingSelected,
  );
}

test('a click selects one request, and the next takes it out', () => {
  expect(clicks(['b'], ['d']).ids).toEqual(['b', 'd']);
  expect(clicks(['b'], ['d'], ['b']).ids).toEqual(['d']);
});

test('a click with Shift does to all between what it does to its own, upwards and downwards', () => {
  expect(clicks(['b'], ['d', true]).ids.toSorted()).toEqual(['b', 'c', 'd']);
  expect(clicks(['d'], ['b', true]).ids.toSorted()).toEqual(['b', 'c', 'd']);
  expect(clicks(['a'], ['e', true], ['b'], ['d', true]).ids.toSorted()).toEqual(['a', 'e']);
  // Nothing was clicked before.
  expect(clicks(['c', true]).ids).toEqual(['c']);
  // What was clicked before is deleted.
  expect(toggled({ ids: [], anchor: 'x' }, order, 'c', true).ids).toEqual(['c']);
  expect(toggled({ ids: [], anchor: 'c' }, order, 'x', true).ids).toEqual(['x']);
});

test('all are selected, or none where all are', () => {
  const all = toggledAll(clicks(['b']), order);
  expect(all.ids).toEqual(order);
  expect(toggledAll(all, order).ids).toEqual([]);
  // No range begins at a click before it.
  expect(toggled(all, order, 'c', true).ids).toEqual(['a', 'b', 'd', 'e']);
});

test('what is selected has the order of the list, without what is gone', () => {
  const list = ['a', 'b', 'c'].map((id) => ({ id }) as StoredGeneration);
  expect(selectedOf(list, { ids: ['c', 'gone', 'a'], anchor: null }).map(({ id }) => id)).toEqual(['a', 'c']);
});

test('the question says how many images are deleted, and that credits stay spent', () => {
  const one = { outputs: ['x'] };
  expect(deletionQuestion([one])).toEqual({
    title: 'Delete this request?',
    text: 'Its prompt and 1 image are deleted for good, and links to the image stop working, also those that you handed out. Credits stay spent, and the totals of your usage stay as they are. This can’t be undone.',
  });
  expect(deletionQuestion([{ outputs: ['y', 'z'] }]).text).toMatch(/links to the images stop/);
  const { title, text } = deletionQuestion([one, { outputs: ['y', 'z'] }]);
  expect(title).toBe('Delete 2 requests?');
  expect(text).toMatch(/^Their prompts and 3 images are deleted for good, and links to the images stop/);
  expect(deletionQuestion([{ outputs: [] }]).text).toMatch(/^Its prompt is deleted for good\. Credits/);
});
