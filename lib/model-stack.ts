import { CfnOutput, Fn, Stack, type App } from 'aws-cdk-lib/core';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import {
  scalesToZero,
  modelStackDescription,
  modelStackNameOf,
  networkStackNameOf,
  type Configuration,
  type ModelEndpointOptions,
} from './configuration.ts';
import { ModelEndpoint } from './constructs/model/model-endpoint.ts';
import { ModelNetwork, type NetworkOfModel } from './constructs/model/model-network.ts';
import { ScaleToZeroEndpoint } from './constructs/model/scale-to-zero-endpoint.ts';

/**
 * The network of the stage's models, and their role. It is a stack of its own that outlives them: for up to an hour after an
 * endpoint is gone, its network interfaces hold subnets and security group, and their deletion fails (issue 1327 of
 * aws-cloudformation/cloudformation-coverage-roadmap). CloudFormation refuses to delete it while a model imports from it.
 */
class NetworkStack extends Stack {
  readonly imported: NetworkOfModel;

  constructor(app: App, name: string, options: ModelEndpointOptions) {
    const description = "Image Generation Service: the models' network";
    super(app, name, { description, terminationProtection: true });
    const { vpcConfig, roleName } = new ModelNetwork(this, 'Network', options);
    const share = (value: string, what: string) => this.exportValue(value, { name: `${name}-${what}` });
    this.imported = {
      vpcConfig: {
        subnets: vpcConfig.subnets.map((id, i) => share(id, `subnet-${i + 1}`)),
        securityGroupIds: vpcConfig.securityGroupIds.map((id) => share(id, 'group')),
      },
      roleName: share(roleName, 'role'),
    };
  }
}

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
    const networkName = networkStackNameOf(configuration);
    const network = networkName === null ? null : new NetworkStack(app, networkName, options);
    if (network !== null) this.addStackDependency(network, 'Its instances run there.');
    const logRetention = logRetentionDays as RetentionDays;
    const props = { endpointName: name, options, network: network?.imported ?? null, logRetention };
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
