/** A switch on or off. Between the asking and the answer nobody can know which of the two holds. */
interface Change {
  isOpen: boolean;
  asked: number;
  answered: number;
}

export type Timeline = ReturnType<typeof createTimeline>;

/** Follows whether a key, a license or an identity's model may be used. To begin with it may. */
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
    /** What somebody may have found it to be between two moments. */
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
