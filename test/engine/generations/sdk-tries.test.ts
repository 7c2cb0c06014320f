import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { acceptTry, noteRefusedTry } from '../../../shared/generations/accept-try.ts';
import { acceptGeneration, finishGeneration } from '../../../shared/generations/create.ts';
import { listTries, storeTry, takeTries } from '../../../shared/generations/sdk-try-store.ts';
import { newRequestId } from '../../../shared/base/ids.ts';
import { deliver, newCommand, says } from './fixture.ts';
import { useEngines } from './use-engines.ts';
import { runs } from '../../support/runs.ts';

const fixture = useEngines();
const digest = 'same';

/** A program whose requests are all equal, with a license of its own. */
function newProgram() {
  const command = newCommand(fixture);
  const { keyId, license } = command;
  const deps = () => ({ ...fixture.deps, table: fixture.table });
  const newId = (atMs = fixture.clock.now()) => newRequestId(atMs);
  const accept = (count: number, atMs?: number) =>
    acceptTry({ ...command, requestId: newId(atMs) }, { digest, count }, deps());
  /** @returns the id of the request whose result the try got, and `anew` where it ran itself; else its error's code. */
  const send = async (
    count: number,
    onAccepted = () => {},
  ): Promise<[id: string, how: 'anew' | 'replayed'] | string> => {
    try {
      const accepted = await accept(count).finally(onAccepted);
      if (accepted.outcome === 'replayed') return [accepted.answer.requestId, 'replayed'];
      return [(await finishGeneration(accepted, license, {}, deps())).requestId, 'anew'];
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  /** @param dueInMs when its program was told to try again */
  const refuse = (count = 0, dueInMs = 0) => {
    const receivedAtMs = fixture.clock.now();
    const refused = { keyId, requestId: newId(), receivedAtMs };
    return noteRefusedTry(fixture.table, refused, { digest, count }, receivedAtMs + dueInMs);
  };
  const charges = async () =>
    (await fixture.deps.generations.list(license.licenseId, 50, null)).filter(
      ({ status }) => status === 'COMPLETED',
    );
  return { command, accept, send, refuse, charges };
}

describe('a try after the first', () => {
  test('gets the result of the one before: two that are equal and come at once never take the same', async () => {
    const { send, charges } = newProgram();
    const firsts = [await send(0), await send(0)].map(([id]) => id).sort();
    for (const count of [1, 2, 3]) {
      const got = await Promise.all([send(count), send(count)]);
      expect(got.map(([id]) => id).sort()).toEqual(firsts);
      expect(got.map(([, how]) => how)).toEqual(['replayed', 'replayed']);
    }
    expect(await charges()).toHaveLength(2);
  });

  test('waits for one that still runs, and fails as it does; the next runs anew, and the one after that gets its result', async () => {
    const { send, charges } = newProgram();
    const failed = says({ event: 'started' }, { event: 'failed', reason: 'model_error', message: 'x' });
    fixture.container.state.behaviour = async (request, res) => {
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await failed(request, res);
    };
    const first = send(0);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await send(1)).toBe('GENERATION_FAILED');
    expect(await first).toBe('GENERATION_FAILED');
    fixture.container.state.behaviour = deliver;
    const [id, how] = await send(2);
    expect(how).toBe('anew');
    expect(await send(3)).toEqual([id, 'replayed']);
    expect(await charges()).toHaveLength(1);
  });

  test('of one that was refused runs anew, though an equal wish was granted before; of one that was cancelled does not', async () => {
    const { accept, send, refuse, charges } = newProgram();
    await send(0);
    await refuse();
    expect(await send(1)).toEqual([expect.any(String), 'anew']);
    const { generation } = await accept(0);
    const failure = { status: 'FAILED', errorCode: 'CANCELLED', errorMessage: 'Cancelled.' } as const;
    await fixture.deps.generations.release(generation, failure, fixture.clock.now());
    expect(await send(1)).toBe('CANCELLED');
    expect(await charges()).toHaveLength(2);
  });

  test('does not run anew where a later one has taken what it took; a lost answer to its own taking is no other', async () => {
    const { command, refuse } = newProgram();
    const { keyId, requestId } = command;
    await refuse();
    const [tries] = await listTries(fixture.table, keyId, digest, fixture.clock.now());
    const take = (count: number, by: string) => takeTries(fixture.table, tries!, { count, by, atMs: 0 });
    expect([await take(1, requestId), await take(1, requestId), await take(1, 'other')]).toEqual([
      true,
      true,
      false,
    ]);
    expect(await take(2, 'later')).toBe(true);
    const storedBeside = (made: Parameters<typeof storeTry>[0]) =>
      storeTry(made, { digest, count: 1 }, tries!);
    await expect(acceptGeneration({ ...command, storedBeside }, fixture.deps)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_IN_PROGRESS',
    });
  });

  test('runs anew after ten minutes', async () => {
    const { send } = newProgram();
    await send(0);
    fixture.clock.shiftMs = 10 * 60_000 + 1;
    expect(await send(1)).toEqual([expect.any(String), 'anew']);
  });

  test('of one that was refused takes no result of another before it is due, nor after it was refused again', async () => {
    const { send, refuse, charges } = newProgram();
    await refuse(0, 60_000);
    const [first] = await send(0);
    expect(await send(1)).toEqual([first, 'replayed']);
    fixture.clock.shiftMs = 60_000;
    await refuse(1, 5000);
    fixture.clock.shiftMs = 65_000;
    expect(await send(2)).toEqual([expect.any(String), 'anew']);
    expect(await charges()).toHaveLength(2);
  });

  test('that looked for the first in vain is paid alone, though that one comes yet; the try after it gets its result', async () => {
    const { accept, send, charges } = newProgram();
    const slow = accept(0, fixture.clock.now() - 3001);
    await expect(slow).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', noFault: true });
    const [second, third] = await Promise.all([
      send(1),
      new Promise<void>((resolve) => setTimeout(resolve, 500)).then(() => send(2)),
    ]);
    expect([second, third]).toEqual([
      [expect.any(String), 'anew'],
      [second![0], 'replayed'],
    ]);
    expect(await charges()).toHaveLength(1);
  });

  // The fate of each try of a wish but its last one: its answer is lost, or it was refused.
  const fate = fc.constantFrom('lost', 'lost while it runs', 'refused');
  const programs = fc
    .constantFrom(2, 5)
    .chain((retries) =>
      fc.tuple(
        fc.constant(retries),
        fc.array(fc.array(fate, { maxLength: retries }), { minLength: 1, maxLength: 4 }),
      ),
    );
  test('however tries of equal wishes meet, none is paid twice, and each wish ends with a result', async () => {
    const play = async ([retries, wishes]: [number, string[][]]) => {
      const { send, refuse, charges } = newProgram();
      const wish = async (lost: string[]) => {
        const running: Promise<unknown>[] = [];
        for (const [count, how] of lost.entries()) {
          if (how === 'refused') await refuse(count);
          else await new Promise<void>((resolve) => running.push(send(count, resolve)));
          if (how === 'lost') await running.at(-1);
        }
        await Promise.all(running);
        // Where another wish's later try took its place, it is told to try again, as the SDKs do.
        for (let count = lost.length; ; count++) {
          const result = await send(count);
          if (result !== 'IDEMPOTENCY_IN_PROGRESS' || count >= retries) return result;
        }
      };
      for (const result of await Promise.all(wishes.map(wish)))
        expect(result).toEqual([expect.any(String), expect.any(String)]);
      expect((await charges()).length).toBeLessThanOrEqual(wishes.length);
    };
    await fc.assert(fc.asyncProperty(programs, play), { numRuns: runs(5) });
  }, 120_000);
});
