/** What Node, Deno and Bun have, and browsers don't. */
interface Runtime {
  process?: {
    env?: Record<string, string | undefined>;
    getBuiltinModule?(name: string): unknown;
  };
}

const { process } = globalThis as Runtime;

/** The functions of Node's `fs/promises` that are used here. */
interface Files {
  readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>>;
  writeFile(path: string | URL, content: Uint8Array): Promise<void>;
  appendFile(path: string | URL, content: string, options: { flush: boolean }): Promise<void>;
}

/** A variable of the environment. @throws TypeError if there is none */
export function variable(name: string, option: string): string {
  const value = process?.env?.[name];
  if (!value) throw new TypeError(`${option} is missing: give it, or set ${name}.`);
  return value;
}

/** Files, asked for at the call, because a page's bundle can't hold an import of Node's modules. */
export function files(): Files {
  const found = process?.getBuiltinModule?.('node:fs/promises');
  if (found === undefined) throw new TypeError('There are no files here: use bytes.');
  return found as Files;
}
