import { plantedBugs } from './all-planted-bugs.ts';
import { installCopies } from './copies.ts';
import { plantIn, type PlantedBug } from './plant.ts';

type Simulation = typeof import('./simulation/simulate.ts');

/**
 * Makes this process one that plays worlds.
 * @returns what gives the simulation with a planted bug in the service's source, or with the service as it is.
 */
export async function openSimulation(): Promise<(bug: string | null) => Promise<Simulation>> {
  installCopies((name, path) => plantIn(path, bugNamed(name)));
  const simulation = await import('./simulation/simulate.ts');
  await simulation.installSimulation();
  return async (name) =>
    name === null
      ? simulation
      : ((await import(`./simulation/simulate.ts?bug=${bugNamed(name).name}`)) as Simulation);
}

function bugNamed(name: string): PlantedBug {
  const bug = plantedBugs.find((one) => one.name === name);
  if (bug === undefined) throw new Error(`There is no planted bug ${name}.`);
  return bug;
}
