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
  private readonly endpointExport: string;
  private readonly componentExport: string | null;

  /** @param configuration one with `inference.kind` "endpoint" */
  constructor(app: App, configuration: Configuration) {
    const { inference: options, logRetentionDays } = configuration;
    const name = modelStackNameOf(configuration);
    if (options.kind !== 'endpoint' || name === null) throw new Error('There is no endpoint to deploy.');
    super(app, name, {
      description: modelStackDescription,
      terminationProtection: true,
    });
    const network = options.internetAccess
      ? null
      : new ModelNetwork(this, 'Network', { modelData: options.modelData });
    const props = { endpointName: name, options, network, logRetention: logRetentionDays as RetentionDays };
    const scaled = scalesToZero(options) ? new ScaleToZeroEndpoint(this, 'Model', props) : null;
    const { endpoint } = scaled ?? new ModelEndpoint(this, 'Model', props);
    this.endpointExport = `${name}-endpoint`;
    new CfnOutput(this, 'EndpointName', {
      value: endpoint.attrEndpointName,
      exportName: this.endpointExport,
    });
    this.componentExport = scaled === null ? null : `${name}-component`;
    if (scaled === null) return;
    new CfnOutput(this, 'ComponentName', {
      value: scaled.componentName,
      exportName: this.componentExport!,
    });
  }

  /**
   * The endpoint's name, for another stack. CloudFormation refuses to deploy a stack that imports it before the endpoint
   * is there, and to delete the endpoint while a stack imports it.
   */
  importEndpointName(): string {
    return Fn.importValue(this.endpointExport);
  }

  /** The name of the inference component, where the endpoint scales to zero. */
  importComponentName(): string | null {
    return this.componentExport === null ? null : Fn.importValue(this.componentExport);
  }
}
