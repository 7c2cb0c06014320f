import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib/core';
import { usualBudgetUsd } from '../../bin/costs/budget.ts';
import { readConfiguration } from '../../lib/configuration.ts';
import { addService } from '../../lib/service-app.ts';
import {
  accountConcurrencies,
  configurations,
  mailIdentities,
  reservedByOthers,
  type ConfigurationName,
} from './configurations.ts';

/**
 * A program: `node synthesize-all.ts FOLDER` synthesizes every configuration into `FOLDER/NAME/`, without the functions'
 * code. A finding of the CDK's validation or of the security checks ends it with an error.
 */
const folder = process.argv[2]!;
const dashboardFolder = join(folder, 'dashboard');
const dashboardFiles = ['index.html', 'first.js', 'build-id', 'assets/index-1a2b.js', 'packages/c-1.tgz'];
for (const name of ['assets', 'packages']) mkdirSync(join(dashboardFolder, name), { recursive: true });
for (const file of dashboardFiles) writeFileSync(join(dashboardFolder, file), file);

/** The checks take their time. The other configurations have the same resources with other numbers. */
const checked = new Set<string>([
  'default',
  'everything',
  'existingEndpoint',
  'atZero',
] satisfies ConfigurationName[]);
/** The CDK's own validation takes longer than the synthesis. These two have every type of resource, and `test/long` has cfn-lint. */
const validated = new Set<string>(['everything', 'atZero'] satisfies ConfigurationName[]);

const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));
for (const [name, options] of Object.entries(configurations)) {
  const app = new App({
    outdir: join(folder, name),
    context: { ...context, 'aws:cdk:bundling-stacks': [] },
    builtinCloudFormationValidation: validated.has(name),
  });
  const accountConcurrency = accountConcurrencies[name as ConfigurationName];
  const configuration = readConfiguration(options, name);
  addService(app, {
    configuration,
    usualBudgetUsd: usualBudgetUsd(configuration),
    dashboardFolder,
    mailIdentity: mailIdentities[name as ConfigurationName],
    ...(accountConcurrency !== undefined && { accountConcurrency }),
    reservedByOthers: reservedByOthers[name as ConfigurationName] ?? 0,
    checked: checked.has(name),
  });
  app.synth();
}
