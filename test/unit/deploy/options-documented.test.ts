import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { configuration } from '../../../lib/configuration.ts';

/** An option by its path, with the default of one that has any. */
interface Option {
  path: string;
  default?: unknown;
}

/** The parts of a zod schema that tell of options. */
interface Schema {
  def: {
    type: string;
    innerType?: Schema;
    shape?: Record<string, Schema>;
    options?: Schema[];
    defaultValue?: unknown;
  };
}

function optionsOf({ def }: Schema, path: string): Option[] {
  if (def.innerType) return optionsOf(def.innerType, path);
  const members = Object.entries(def.shape ?? {});
  return [
    ...(def.options ?? []).flatMap((option) => optionsOf(option, path)),
    ...members.flatMap(([name, member]) => {
      const at = path === '' ? name : `${path}.${name}`;
      const own = member.def.type === 'default' ? { default: member.def.defaultValue } : {};
      return [{ path: at, ...own }, ...optionsOf(member, at)];
    }),
  ];
}

const options = new Map(
  optionsOf(configuration as unknown as Schema, '').map((option) => [option.path, option]),
);

const page = readFileSync(new URL('../../../docs/deploying.md', import.meta.url), 'utf8');
const rows = [...page.matchAll(/^\| `([\w.]+)` +\| (.+?) +\| (.+?) +\|$/gm)].map(
  ([, path = '', byDefault = '', meaning = '']) => ({ path, byDefault, meaning }),
);

test('every option of a deployment is documented once, and no other', () => {
  expect(rows.map(({ path }) => path).sort()).toEqual([...options.keys()].sort());
  expect(options.size).toBeGreaterThan(30);
});

test.each(rows)('the documented default of $path is the real one', ({ path, byDefault, meaning }) => {
  const option = options.get(path)!;
  expect(meaning).toMatch(/\w.*\.$/);
  if (!('default' in option)) return expect(byDefault).toBe('required');
  expect(JSON.parse(/^`(.+)`$/.exec(byDefault)![1]!)).toEqual(option.default);
});
