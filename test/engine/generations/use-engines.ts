import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startTable, type TableFixture } from './table.ts';
import { deliver, startEngines, type Fixture } from './fixture.ts';

/**
 * A table for the tests of one file, each of which begins without faults.
 * @returns an object that is filled by the time that the first test runs
 */
export function useTable(): TableFixture {
  const fixture = {} as TableFixture;
  beforeAll(async () => void Object.assign(fixture, await startTable()));
  beforeEach(() => fixture.mend());
  afterAll(() => fixture.close());
  return fixture;
}

/** The same with every engine: each test begins with the time of now, and with a container that does what it should. */
export function useEngines(): Fixture {
  const fixture = {} as Fixture;
  beforeAll(async () => void Object.assign(fixture, await startEngines()));
  beforeEach(() => {
    fixture.clock.shiftMs = 0;
    Object.assign(fixture.container.state, { behaviour: deliver, calls: 0 });
  });
  afterAll(() => fixture.close());
  return fixture;
}
