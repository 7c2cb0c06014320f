/** When something was switched, as far as others can know: between the asking and the answer either may hold. */
interface Change {
  isOpen: boolean;
  asked: number;
  answered: number;
}

export type Timeline = ReturnType<typeof createTimeline>;

/** What a switch may have been during a run: a key, a license, an identity's model. It is on to begin with. */
export function createTimeline(moment: () => number) {
  const changes: Change[] = [];
  return {
    isOpen: () => changes.at(-1)?.isOpen ?? true,
    async change(isOpen: boolean, by: () => Promise<unknown>): Promise<void> {
      const change = { isOpen, asked: moment(), answered: Infinity };
      changes.push(change);
      await by();
      change.answered = moment();
    },
    /** Everything that it may have been between two moments. */
    possible(from: number, to: number): boolean[] {
      let certain = true;
      const maybe: boolean[] = [];
      for (const { isOpen, asked, answered } of changes) {
        if (answered <= from) {
          certain = isOpen;
          maybe.length = 0;
        } else if (asked <= to) maybe.push(isOpen);
      }
      return [certain, ...maybe];
    },
  };
}
