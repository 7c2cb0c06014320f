import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import GithubSlugger from 'github-slugger';
import { nextSteps } from '../../../bin/deploy/next-steps.ts';
import { dataStores } from '../../../bin/deploy/preflight/leftovers.ts';
import { configuration, dataTag } from '../../../lib/configuration.ts';

const root = new URL('../../../', import.meta.url);
const page = readFileSync(new URL('docs/deploying.md', root), 'utf8');

/** The parts of a zod schema that say which options there are. */
interface Schema {
  def: {
    type: string;
    innerType?: Schema;
    shape?: Record<string, Schema>;
    options?: Schema[];
    defaultValue?: unknown;
  };
}

/** Options by their paths, each with its default if it has any. */
function optionsOf({ def }: Schema, path: string): [path: string, option: { default?: unknown }][] {
  if (def.innerType) return optionsOf(def.innerType, path);
  const ofMembers = Object.entries(def.shape ?? {}).flatMap(([name, member]) => {
    const at = path === '' ? name : `${path}.${name}`;
    const own = member.def.type === 'default' ? { default: member.def.defaultValue } : {};
    return [[at, own] as [string, object], ...optionsOf(member, at)];
  });
  return [...(def.options ?? []).flatMap((option) => optionsOf(option, path)), ...ofMembers];
}

const options = new Map(optionsOf(configuration as unknown as Schema, ''));

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

const place = { stackName: 'image-generation-prod', region: 'eu-west-1', profile: undefined };
const outputs = { BaseUrl: 'https://a/api/v1', DashboardUrl: 'https://b/', UserPoolId: 'eu-west-1_P' };

test('the words after a deployment name a heading that the page has', () => {
  const text = nextSteps(place, { ...outputs, ModelEndpointName: '(none)' });
  const [, heading] = /docs\/deploying\.md, "(.+?)"/.exec(text)!;
  expect(page).toContain(`\n## ${heading}\n`);
});

test('the tag by which data that was left is found is named', () => {
  expect(page).toContain(`\`${dataTag}\``);
});

test('files of the repository that the page names are there', () => {
  const named = [...page.matchAll(/`((?:shared|lib|bin)\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});

test('the logical ids for an import are those of the template, one for each store', () => {
  const kept = readFileSync(new URL('test/infra/kept-ids.txt', root), 'utf8');
  const [, mapping] = /--resource-mapping-inline '(\{.*?\n *\})'/s.exec(page)!;
  const ids = Object.keys(JSON.parse(mapping!));
  expect(ids.map((id) => id.slice(0, -8)).sort()).toEqual(
    dataStores.map(({ logicalId }) => logicalId).sort(),
  );
  for (const id of ids) expect(kept).toContain(` ${id} Retain`);
});

test('every section that the deploy program names is there', () => {
  const slugger = new GithubSlugger();
  const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => slugger.slug(heading!));
  const folder = new URL('bin/deploy/', root);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(file, folder), 'utf8'));
  const named = [...sources.join('').matchAll(/docs\/deploying\.md#([a-z-]+)/g)].map(([, anchor]) => anchor!);
  expect(new Set(named).size).toBeGreaterThan(3);
  expect(headings).toEqual(expect.arrayContaining(named));
});
