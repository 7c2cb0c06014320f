import { describe, expect, test } from '@jest/globals';
import {
  changeKeyBody,
  createKeyBody,
  maxMonthlyCredits as serviceBudget,
} from '../../../shared/keys/contract.ts';
import {
  bodyOf,
  budgetProblem,
  changesOf,
  editOf,
  maxMonthlyCredits,
  type KeyFormValues,
} from '../../../dashboard/src/screens/keys/key-form.ts';
import { budgetOf } from '../../../dashboard/src/screens/keys/key-view.ts';

const form = (budget: string): KeyFormValues => ({
  licenseId: 'lic_1',
  name: 'my app',
  budget,
  expiry: 'never',
  customTime: '',
});

describe('a budget', () => {
  test('takes the credits that the service takes, typed in digits', () => {
    expect(maxMonthlyCredits).toBe(serviceBudget);
    for (const budget of ['', ' ', '1', ' 500 ', '007', String(serviceBudget)]) {
      expect({ budget, problem: budgetProblem(budget) }).toEqual({ budget, problem: null });
      expect(createKeyBody.safeParse(bodyOf(form(budget), 0)).success).toBe(true);
    }
    expect(bodyOf(form(' 500 '), 0).monthlyCredits).toBe(500);
    const tooLarge = String(serviceBudget + 1);
    for (const budget of ['0', '-1', '1.5', '1e3', '0x10', '1,000', 'many', tooLarge, '9'.repeat(40)]) {
      expect({ budget, problem: budgetProblem(budget) }).toEqual({ budget, problem: expect.any(String) });
      expect(createKeyBody.safeParse(bodyOf(form(budget), 0)).success).toBe(false);
    }
  });

  test('of which nothing is used up until its last credit is', () => {
    const view = (monthlyCredits: number | null, creditsUsed: number) =>
      budgetOf({ monthlyCredits, creditsUsed });
    expect(view(500, 120)).toEqual({ text: '120 of 500 credits', barPercent: 24, isUsedUp: false });
    expect(view(500, 0)).toMatchObject({ barPercent: 0, isUsedUp: false });
    expect(view(5000, 1)).toMatchObject({ barPercent: 1, isUsedUp: false });
    expect(view(500, 499)).toMatchObject({ barPercent: 99, isUsedUp: false });
    expect(view(500, 500)).toMatchObject({ barPercent: 100, isUsedUp: true });
    // It was lowered.
    expect(view(1, 500)).toEqual({ text: '500 of 1 credit', barPercent: 100, isUsedUp: true });
    expect(view(null, 12)).toEqual({ text: '12 credits used', barPercent: null, isUsedUp: false });
  });
});

describe('an edit', () => {
  const edited = (changes: Partial<ReturnType<typeof editOf>>, monthlyCredits: number | null = 500) => {
    const before = { name: 'my app', monthlyCredits };
    return changesOf(before, { ...editOf(before), ...changes });
  };

  test('sends only what is different', () => {
    expect(edited({})).toBeNull();
    expect(edited({}, null)).toBeNull();
    expect(edited({ name: ' my app ', budget: ' 500 ' })).toBeNull();
    expect(edited({ name: 'CI' })).toEqual({ name: 'CI' });
    expect(edited({ budget: '600' })).toEqual({ monthlyCredits: 600 });
    expect(edited({ budget: '600' }, null)).toEqual({ monthlyCredits: 600 });
    expect(edited({ name: 'CI', budget: '' })).toEqual({ name: 'CI', monthlyCredits: null });
  });

  test.each<Partial<ReturnType<typeof editOf>>>([{ name: 'CI' }, { budget: '' }, { budget: '1' }])(
    'is taken by the service: %j',
    (changes) => {
      expect(changeKeyBody.safeParse(edited(changes)).success).toBe(true);
    },
  );
});
