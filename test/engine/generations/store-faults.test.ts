import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { countInPeriod } from '../../../shared/generations/in-flight.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { sweep } from '../../../shared/generations/sweep.ts';
import { interceptCommands } from '../../support/intercept-commands.ts';
import { useEngines } from './use-engines.ts';
import { newCommand, paint, run, stored } from './fixture.ts';

const fixture = useEngines();

/** Which transactions, counted from one, get lost: before they are sent, or after they were applied. */
let faults: { at: number; when: 'before' | 'after' }[] = [];
let transactions = 0;

beforeAll(() => {
  // Real calls to the real engine; only what the network might do to them is added.
  interceptCommands(fixture.table, async ({ name, send }) => {
    if (name !== 'TransactWriteItemsCommand') return void (await send());
    transactions += 1;
    const fault = faults.find(({ at }) => at === transactions);
    if (fault?.when === 'before') throw new Error('socket hang up');
    await send();
    if (fault?.when === 'after') throw new Error('socket hang up');
  });
});

beforeEach(() => {
  faults = [];
  transactions = 0;
});

/** Loses these transactions before they are sent. */
function loseAll(from: number, count: number): void {
  faults = Array.from({ length: count }, (_, i) => ({ at: from + i, when: 'before' }));
}

type Command = ReturnType<typeof newCommand>;

/** A command whose period counts what is in flight already, so that its reservation is the first transaction. */
async function openedCommand(): Promise<Command> {
  const command = newCommand(fixture);
  const { licenseId, periodAnchorMs } = command.license;
  await countInPeriod(fixture.table, licenseId, billingPeriod(periodAnchorMs, fixture.clock.now()).startMs);
  transactions = 0;
  return command;
}

/** Nothing is reserved, and what was delivered is charged. */
async function expectTotals(command: Command, credits: number): Promise<void> {
  const { period } = await stored(fixture, command);
  expect(period).toMatchObject({ used: credits, committed: credits });
}

/** Ends every request whose lease ends before then. */
const sweepBefore = (leasesBeforeMs: number) => sweep({ ...fixture.deps, deletions: null }, leasesBeforeMs);
const never = Number.MAX_SAFE_INTEGER;

describe('a write whose answer is lost happens once all the same', () => {
  test.each([
    ['charge', 'before', 2],
    ['charge', 'after', 2],
    ['release', 'before', 0],
    ['release', 'after', 0],
  ] as const)(
    'the %s got lost %s it was applied: of 2 credits %i are charged, once',
    async (which, when, credits) => {
      if (which === 'release')
        fixture.container.state.behaviour = (_request, res) => void res.writeHead(500).end();
      const command = await openedCommand();
      faults = [{ at: 2, when }];
      const outcome =
        which === 'charge' ? { usage: { creditsUsed: 2, creditsCharged: 2 } } : { code: 'GENERATION_FAILED' };
      expect(await run(command, fixture.deps)).toMatchObject(outcome);
      expect(fixture.container.state.calls).toBe(1);
      await expectTotals(command, credits);
    },
  );

  test('the charge can never be stored: the request ends FAILED and nothing is held', async () => {
    const command = await openedCommand();
    loseAll(2, 4);
    expect(await run(command, fixture.deps)).toMatchObject({ code: 'GENERATION_FAILED', status: 500 });
    expect((await stored(fixture, command)).generation?.status).toBe('FAILED');
    await expectTotals(command, 0);
  });

  test('neither charge nor release can be stored: the sweep gives the credits back after the lease', async () => {
    const command = await openedCommand();
    loseAll(2, 8);
    expect(await run(command, fixture.deps)).toMatchObject({ code: 'GENERATION_FAILED' });
    const { generation, period } = await stored(fixture, command);
    expect([generation!.status, period.committed]).toEqual(['PROCESSING', 2]);
    faults = [];
    const { leaseUntilMs } = generation!;
    expect(await sweepBefore(leaseUntilMs)).toMatchObject({ released: 0, failed: 0 });
    expect(await sweepBefore(leaseUntilMs + 1)).toMatchObject({ released: 1, creditsReleased: 2, failed: 0 });
    expect((await stored(fixture, command)).generation?.status).toBe('TIMEOUT');
    await expectTotals(command, 0);
  });
});

describe('sweeping', () => {
  test('three times at once, each request is released once', async () => {
    const commands = [newCommand(fixture), newCommand(fixture), newCommand(fixture)];
    for (const command of commands) await acceptGeneration(command, fixture.deps);
    const results = await Promise.all([1, 2, 3].map(() => sweepBefore(never)));
    expect(results.every(({ failed }) => failed === 0)).toBe(true);
    for (const command of commands) {
      expect((await stored(fixture, command)).generation?.status).toBe('TIMEOUT');
      await expectTotals(command, 0);
    }
  });

  test('before a late handler: the handler finds the request ended and charges nothing', async () => {
    fixture.container.state.behaviour = async (request, res) => {
      await sweepBefore(never);
      await paint(request, res);
    };
    const command = newCommand(fixture);
    expect(await run(command, fixture.deps)).toMatchObject({ code: 'TIMEOUT', status: 504 });
    await expectTotals(command, 0);
  });
});
