import { readFileSync } from 'node:fs';
import { registerHooks, stripTypeScriptTypes } from 'node:module';

/**
 * Loads files of the repository again, under addresses that differ in what follows the `?`: `cold` makes another environment of a function,
 * `bug` another service. Node.js would look each one up on disk and compile its types away again.
 */
const repository = new URL('../../', import.meta.url).href;
/** What there is once for each bug: the service, and the simulation that imports it. */
const ofEachBug = ['functions', 'shared', 'bin', 'test/faults/simulation'].map(
  (name) => `${repository}${name}/`,
);
/** These change the process itself, which there is only one of. */
const once = ['runs', 'transport', 'virtual-time'].map(
  (name) => `${repository}test/faults/simulation/${name}.ts`,
);

/** By path: without its types. */
const sources = new Map<string, string>();

/** @param edit what a bug makes of a file; null where it leaves it as it is. */
export function installCopies(edit: (bug: string, path: string) => string | null): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const parent = context.parentURL?.startsWith(repository) ? new URL(context.parentURL) : null;
      if (!parent?.search) return nextResolve(specifier, context);
      if (!specifier.startsWith('.')) {
        // So that it is looked up once for all copies.
        parent.search = '';
        return nextResolve(specifier, { ...context, parentURL: parent.href });
      }
      const bug = parent.searchParams.get('bug');
      const url = new URL(specifier, parent);
      if (bug !== null && isOfEachBug(url)) url.searchParams.set('bug', bug);
      return { url: url.href, shortCircuit: true };
    },
    load(url, context, nextLoad) {
      const { pathname, search, searchParams } = new URL(url);
      if (search === '' || !pathname.endsWith('.ts')) return nextLoad(url, context);
      const bug = searchParams.get('bug');
      const edited = bug === null ? null : edit(bug, pathname);
      const source = edited === null ? withoutTypes(pathname) : stripTypeScriptTypes(edited);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

function isOfEachBug({ href }: URL): boolean {
  const [file] = href.split('?');
  return ofEachBug.some((folder) => href.startsWith(folder)) && !once.includes(file!);
}

function withoutTypes(path: string): string {
  const known = sources.get(path) ?? stripTypeScriptTypes(readFileSync(path, 'utf8'));
  sources.set(path, known);
  return known;
}
