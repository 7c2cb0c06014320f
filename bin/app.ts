import { App } from 'aws-cdk-lib/core';
import { ConfigurationError, readConfiguration, readConfigurationFile } from '../lib/configuration.ts';
import { addService } from '../lib/service-app.ts';

/** The CDK app: one stack, configured by the context `configuration` in `cdk.json` or by a file (`-c config=FILE`). */
try {
  const app = new App();
  const file: unknown = app.node.tryGetContext('config');
  const configuration =
    typeof file === 'string'
      ? readConfigurationFile(file)
      : readConfiguration(app.node.tryGetContext('configuration'), 'The configuration in cdk.json');
  addService(app, { configuration });
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
