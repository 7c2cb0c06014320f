import { useEffect, useState } from 'react';
import { nothingSelected, toggled, toggledAll, type Selection } from './selection.ts';

export interface Selecting {
  selection: Selection;
  toggle: (order: readonly string[], id: string, withShift: boolean) => void;
  toggleAll: (order: readonly string[]) => void;
  leave: () => void;
}

/**
 * The selection of one list, by its key: another list has none.
 * @param onLeft called when the selection was left
 */
export function useSelection(
  listKey: string,
  onLeft: () => void,
): { selecting: Selecting | null; begin: () => void } {
  const [state, setState] = useState<{ listKey: string; selection: Selection } | null>(null);
  const isOn = state?.listKey === listKey;
  const leave = (): void => {
    setState(null);
    onLeft();
  };
  useEscape(isOn ? leave : null);
  const change = (next: (selection: Selection) => Selection): void =>
    setState((before) => before && { ...before, selection: next(before.selection) });
  return {
    begin: () => setState({ listKey, selection: nothingSelected }),
    selecting: isOn
      ? {
          selection: state.selection,
          toggle: (order, id, withShift) => change((selection) => toggled(selection, order, id, withShift)),
          toggleAll: (order) => change((selection) => toggledAll(selection, order)),
          leave,
        }
      : null,
  };
}

/** Where Escape has a meaning of its own. */
const ownEscape = 'input[type=search], [role=dialog], [role=alertdialog], [role=menu]';

function useEscape(leave: (() => void) | null): void {
  useEffect(() => {
    if (leave === null) return;
    const press = (event: KeyboardEvent): void => {
      const isTaken =
        event.defaultPrevented ||
        (event.target instanceof Element && event.target.closest(ownEscape) !== null);
      if (event.key === 'Escape' && !isTaken) leave();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [leave]);
}
