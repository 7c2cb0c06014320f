import { CfnOutput, Fn, Stack, type App } from 'aws-cdk-lib/core';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  scalesToZero,
  modelStackDescription,
  modelStackNameOf,
  type Configuration,
} from './configuration.ts';
import { ModelEndpoint } from './constructs/model/model-endpoint.ts';
import { ModelNetwork } from './constructs/model/model-network.ts';
import { ScaleToZeroEndpoint } from './constructs/model/scale-to-zero-endpoint.ts';

/**
 * The model's endpoint. It is a stack of its own, because an endpoint takes up to hours to change: the service's functions
 * change without it. The instance type and whether the endpoint scales to zero are part of the stack's name, since SageMaker can't
 * change them in an endpoint that is there. So another type makes another stack, and the old one is deleted after the service
 * uses the new one.
 */
export class ModelStack extends Stack {
  /**
   * The endpoint's name, for another stack. CloudFormation refuses to deploy a stack that imports it before the endpoint
   * is there, and to delete the endpoint while a stack imports it.
   */
  readonly importedEndpointName: string;
  /** The name of the inference component, where the endpoint scales to zero. */
  readonly importedComponentName: string | null;

  /** @param configuration one with `inference.kind` "endpoint" */
  constructor(app: App, configuration: Configuration) {
    const { inference: options, logRetentionDays } = configuration;
    const name = modelStackNameOf(configuration);
    if (options.kind !== 'endpoint' || name === null) throw new Error('There is no endpoint to deploy.');
    super(app, name, { description: modelStackDescription, terminationProtection: true });
    const network = options.internetAccess ? null : new ModelNetwork(this, 'Network', options);
    const props = { endpointName: name, options, network, logRetention: logRetentionDays as RetentionDays };
    const atZero = scalesToZero(options) ? new ScaleToZeroEndpoint(this, 'Model', props) : null;
    const { endpoint } = atZero ?? new ModelEndpoint(this, 'Model', props);
    this.importedEndpointName = this.export('EndpointName', endpoint.attrEndpointName, `${name}-endpoint`);
    this.importedComponentName =
      atZero && this.export('ComponentName', atZero.componentName, `${name}-component`);
  }

  private export(id: string, value: string, exportName: string): string {
    new CfnOutput(this, id, { value, exportName });
    return Fn.importValue(exportName);
  }
}
