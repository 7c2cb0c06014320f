import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { bundledPackages, bundleName, bundlePackages } from './bundle-packages.ts';
import { parts } from './parts.ts';

const known = Object.keys(parts) as (keyof typeof parts)[];
const usage = `npm run mutation -- [options] [PART...]

  --mutate GLOB        changes these files only; may be given several times
  --concurrency COUNT  runs so many tests at a time
  --incremental        takes over what the last run found about code that is as it was
  --help               prints this

Changes each part of the code (${known.join(', ')}) in many small ways and sees whether its tests notice.
Reports lie in .stryker/; it fails below 90 percent.`;
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    mutate: { type: 'string', multiple: true },
    concurrency: { type: 'string' },
    incremental: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit();
}
const unknown = positionals.find((name) => !known.some((one) => one === name));
if (unknown !== undefined) throw new Error(`No part ${unknown}: there are ${known.join(', ')}.`);

const packages = resolve('.stryker/packages');
await bundlePackages(packages);
for (const name of known) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  console.log(name);
  const jestConfig = {
    testMatch: parts[name].tests.map((tests) => `<rootDir>/test/${tests}.test.ts`),
    moduleNameMapper: Object.fromEntries(
      bundledPackages.map((one) => [`^${one}$`, `${packages}/${bundleName(one)}.js`]),
    ),
  };
  const stryker = new Stryker({
    mutate: values.mutate ?? parts[name].code.map((code) => `shared/${code}`),
    ...(values.concurrency === undefined ? {} : { concurrency: Number(values.concurrency) }),
    incremental: values.incremental,
    incrementalFile: `.stryker/${name}-incremental.json`,
    jsonReporter: { fileName: `.stryker/${name}.json` },
    htmlReporter: { fileName: `.stryker/${name}.html` },
    jest: { config: jestConfig },
  });
  await stryker.runMutationTest();
}
