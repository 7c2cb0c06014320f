import { Token, type Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { environmentVariables, noModelEndpoint } from '../../shared/base/config.ts';
import type { Grants } from '../../shared/routes/grants.ts';
import type { ServiceFunction } from './service-function.ts';

export interface ModelAccessProps {
  /** `(none)` without a model. */
  readonly endpointName: string;
  /** The inference component that requests name, where the endpoint may sleep; null where it never does. */
  readonly componentName: string | null;
}

/** The SageMaker endpoint that functions call. */
export class ModelAccess {
  private readonly stack: Stack;
  readonly endpointName: string;
  readonly componentName: string | null;

  constructor(stack: Stack, { endpointName, componentName }: ModelAccessProps) {
    this.stack = stack;
    this.endpointName = endpointName;
    this.componentName = componentName;
  }

  /** Gives a function the model's names, and what its row says of the model: the permission to stream from it, or to see how it is. */
  grant(fn: ServiceFunction, { model, modelStatus }: Pick<Grants, 'model' | 'modelStatus'>): void {
    if (!model && !modelStatus) return;
    fn.setVariable(environmentVariables.modelEndpointName, this.endpointName);
    if (this.endpointName === noModelEndpoint) return;
    if (this.componentName === null) return this.allowStreams(fn, []);
    fn.setVariable(environmentVariables.modelComponentName, this.componentName);
    const component = this.arnOf('inference-component', this.componentName);
    if (!modelStatus) return this.allowStreams(fn, [component]);
    // A call would wake the model. So whoever may see how it is does not call it.
    const actions = ['sagemaker:DescribeInferenceComponent'];
    fn.addToRolePolicy(new PolicyStatement({ actions, resources: [component] }));
  }

  /** IAM asks for the endpoint, and for the component where a request names one. */
  private allowStreams(fn: ServiceFunction, components: string[]): void {
    // SageMaker writes endpoint names in ARNs in lower case, but IAM compares case-sensitively. So both forms are named.
    const names = new Set([lowerCase(this.endpointName), this.endpointName]);
    const endpoints = [...names].map((name) => this.arnOf('endpoint', name));
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['sagemaker:InvokeEndpointWithResponseStream'],
        resources: [...endpoints, ...components],
      }),
    );
  }

  private arnOf(resource: string, resourceName: string): string {
    return this.stack.formatArn({ service: 'sagemaker', resource, resourceName });
  }
}

/** The name of the service's own endpoint is a reference to another stack, and in lower case there. */
function lowerCase(endpointName: string): string {
  return Token.isUnresolved(endpointName) ? endpointName : endpointName.toLowerCase();
}
