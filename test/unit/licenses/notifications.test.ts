import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { isOvertaken, notificationDue, reachedAt } from '../../../shared/licenses/notifications.ts';

test.each([
  [399, 500, 0, null],
  [400, 500, 0, 80],
  [400, 500, 80, null],
  [500, 500, 80, 100],
  [3, 4, 0, null],
])('%i used of %i, with %i notified, notifies of %j', (used, limit, notified, due) => {
  expect(notificationDue(used, limit, notified)).toBe(due);
});

test('a part is reached where GET /usage shows as many percent', () => {
  const limit = fc.integer({ min: 1, max: 1_000_000_000 });
  const percent = fc.constantFrom(80 as const, 100 as const);
  fc.assert(
    fc.property(limit, percent, (creditsLimit, part) => {
      const at = reachedAt(part, creditsLimit);
      const shown = (used: number) => Math.floor((100 * used) / creditsLimit);
      expect(shown(at)).toBeGreaterThanOrEqual(part);
      expect(shown(at - 1)).toBeLessThan(part);
    }),
  );
});

test('of each part the owner is notified at most once, and at the end of the highest that is reached', () => {
  const charges = fc.array(fc.integer({ min: 1, max: 16 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), charges, (creditsLimit, all) => {
      const sent: number[] = [];
      let used = 0;
      for (const credits of all) {
        used += credits;
        const due = notificationDue(used, creditsLimit, sent.at(-1) ?? 0);
        if (due !== null) sent.push(due);
      }
      const highest = [100, 80].find((part) => used * 100 >= part * creditsLimit);
      expect(sent.at(-1)).toBe(highest);
      expect(sent).toEqual([...new Set(sent)].sort((a, b) => a - b));
    }),
  );
});

test.each([
  [80, 100, 100, 100, true],
  [80, 99, 100, 80, false],
  // The limit was lowered: there is no e-mail of 100%.
  [80, 100, 100, 80, false],
  // The limit was raised: the e-mail of 100% is not true any more.
  [80, 100, 120, 100, false],
  [100, 100, 100, 100, false],
] as const)(
  'a notification of %i %, with %i of %i used and %i notified, is overtaken: %j',
  (percent, used, limit, notified, is) => {
    expect(isOvertaken({ licenseId: 'lic_1', periodStartMs: 0, percent }, used, limit, notified)).toBe(is);
  },
);
