import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';
import { mutantNamed, mutate } from './mutants.ts';

type Simulation = typeof import('./simulation/simulate.ts');

const repository = new URL('../../', import.meta.url).href;
/** What there is once for each mutant: the service, and the simulation that imports it. */
const ofEachMutant = ['functions', 'shared', 'bin', 'test/faults/simulation'].map(
  (name) => `${repository}${name}/`,
);
/** These change the process itself, which there is only one of. */
const once = ['runs', 'process'].map((name) => `${repository}test/faults/simulation/${name}.ts`);

/**
 * Makes this process one that plays simulations.
 * @returns what gives the simulation of a mutant, or of the service as it is
 */
export async function openSimulation(): Promise<(mutant: string | null) => Promise<Simulation>> {
  installCopies();
  const simulation = await import('./simulation/simulate.ts');
  await simulation.installSimulation();
  return async (name) =>
    name === null
      ? simulation
      : ((await import(`./simulation/simulate.ts?mutant=${mutantNamed(name).name}`)) as Simulation);
}

/**
 * Loads files of the repository again, under addresses that differ in what follows the `?`: `cold` makes another environment
 * of a function, `mutant` another service. Node.js would look each one up on disk and compile its types away again.
 */
function installCopies(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const parent = context.parentURL?.startsWith(repository) ? new URL(context.parentURL) : null;
      if (!parent?.search) return nextResolve(specifier, context);
      if (!specifier.startsWith('.')) {
        // So that it is looked up once for all copies.
        parent.search = '';
        return nextResolve(specifier, { ...context, parentURL: parent.href });
      }
      const mutant = parent.searchParams.get('mutant');
      const url = new URL(specifier, parent);
      if (mutant !== null && isOfEachMutant(url)) url.searchParams.set('mutant', mutant);
      return { url: url.href, shortCircuit: true };
    },
    load(url, context, nextLoad) {
      const { pathname, search, searchParams } = new URL(url);
      if (search === '' || !pathname.endsWith('.ts')) return nextLoad(url, context);
      const name = searchParams.get('mutant');
      const mutated = name === null ? null : mutate(pathname, mutantNamed(name));
      const source = mutated === null ? withoutTypes(pathname) : stripTypeScriptTypes(mutated);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

function isOfEachMutant({ href }: URL): boolean {
  const [file] = href.split('?');
  return ofEachMutant.some((folder) => href.startsWith(folder)) && !once.includes(file!);
}

/** By path: without its types. */
const sources = new Map<string, string>();

function withoutTypes(path: string): string {
  const known = sources.get(path) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'));
  sources.set(path, known);
  return known;
}
