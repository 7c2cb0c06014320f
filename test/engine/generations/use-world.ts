import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { startTable, type TableWorld } from './table.ts';
import { paint, startWorld, type World } from './world.ts';

/**
 * A table for the tests of one file, each of which begins without faults.
 * @returns an object that is filled by the time that the first test runs
 */
export function useTable(): TableWorld {
  const world = {} as TableWorld;
  beforeAll(async () => void Object.assign(world, await startTable()));
  beforeEach(() => world.mend());
  afterAll(() => world.close());
  return world;
}

/** The same with every engine: each test begins with the time of now, and with a container that does what it should. */
export function useWorld(): World {
  const world = {} as World;
  beforeAll(async () => void Object.assign(world, await startWorld()));
  beforeEach(() => {
    world.clock.shiftMs = 0;
    Object.assign(world.container.state, { behaviour: paint, calls: 0 });
  });
  afterAll(() => world.close());
  return world;
}
