import { App } from 'aws-cdk-lib/core';
import { ConfigurationError, readConfiguration, readConfigurationFile } from '../lib/configuration.ts';
import { addService } from '../lib/service-app.ts';

/** The CDK app: the service and its model, configured by the context `configuration` in `cdk.json` or by a file (`-c config=FILE`). */
try {
  const app = new App();
  const file: unknown = app.node.tryGetContext('config');
  const configuration =
    typeof file === 'string'
      ? readConfigurationFile(file)
      : readConfiguration(app.node.tryGetContext('configuration'), 'The configuration in cdk.json');
  // The account's quota and what is taken of it, if whoever deploys knows: synthesis asks nobody.
  const accountConcurrency = Number(app.node.tryGetContext('accountConcurrency') ?? 0);
  const reservedByOthers = Number(app.node.tryGetContext('reservedByOthers') ?? 0);
  addService(app, { configuration, accountConcurrency, reservedByOthers });
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
