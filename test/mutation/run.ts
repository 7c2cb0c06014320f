import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { bundledPackages, bundleName, bundlePackages } from './bundle-packages.ts';
import { folders } from './folders.ts';

/**
 * `npm run mutation [-- FOLDER...] [--mutate GLOB] [--concurrency COUNT] [--incremental]`: changes the code of each entry of
 * `folders` in many small ways and sees whether its tests notice. Reports lie in `.stryker/`; it fails below 90 percent.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mutate: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
    incremental: { type: 'boolean', default: false },
  },
});
const known = Object.keys(folders) as (keyof typeof folders)[];
const unknown = positionals.find((name) => !known.some((one) => one === name));
if (unknown !== undefined) throw new Error(`No folder ${unknown}: there are ${known.join(', ')}.`);

const packages = resolve('.stryker/packages');
await bundlePackages(packages);
for (const name of known) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(`shared/${name}`);
  const jestConfig = {
    testMatch: folders[name].tests.map((tests) => `<rootDir>/test/${tests}.test.ts`),
    moduleNameMapper: Object.fromEntries(
      bundledPackages.map((one) => [`^${one}$`, `${packages}/${bundleName(one)}.js`]),
    ),
  };
  const stryker = new Stryker({
    mutate: values.mutate ?? [`shared/${folders[name].code}`],
    ...(values.concurrency === undefined ? {} : { concurrency: Number(values.concurrency) }),
    incremental: values.incremental,
    incrementalFile: `.stryker/${name}-incremental.json`,
    jsonReporter: { fileName: `.stryker/${name}.json` },
    htmlReporter: { fileName: `.stryker/${name}.html` },
    jest: { config: jestConfig },
  });
  await stryker.runMutationTest();
}
