import { App } from 'aws-cdk-lib/core';
import { ConfigurationError, readConfiguration, readConfigurationFile } from '../lib/configuration.ts';
import { addService } from '../lib/service-app.ts';
import { usualBudgetUsd } from './costs/budget.ts';

/** The CDK app: the service and its model, configured by the context `configuration` in `cdk.json` or by a file (`-c config=FILE`). */
try {
  const app = new App();
  const file: unknown = app.node.tryGetContext('config');
  const configuration =
    typeof file === 'string'
      ? readConfigurationFile(file)
      : readConfiguration(app.node.tryGetContext('configuration'), 'The configuration in cdk.json');
  // For one deployment: whoever deploys wants no alarm to stop it.
  const atOnce = app.node.tryGetContext('atOnce') !== undefined;
  // The account's quota, what is taken of it, and its identity of SES, if whoever deploys knows them: synthesis asks nobody.
  const accountConcurrency = Number(app.node.tryGetContext('accountConcurrency') ?? 0);
  const reservedByOthers = Number(app.node.tryGetContext('reservedByOthers') ?? 0);
  const mailIdentity = app.node.tryGetContext('mailIdentity') as string | undefined;
  const usualBudget = usualBudgetUsd(configuration);
  if (configuration.monthlyBudgetUsd === 'usual' && usualBudget === null) {
    console.error("There is no budget, because nobody knows the instances' price: set monthlyBudgetUsd.");
  }
  addService(app, {
    configuration: { ...configuration, ...(atOnce && { canary: false }) },
    accountConcurrency,
    reservedByOthers,
    mailIdentity,
    usualBudgetUsd: usualBudget,
  });
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
