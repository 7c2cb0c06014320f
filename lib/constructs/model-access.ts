import { Token, type Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { environmentVariables, noModelEndpoint } from '../../shared/config.ts';
import type { ServiceFunction } from './service-function.ts';

/** The SageMaker endpoint that functions call. */
export class ModelAccess {
  private readonly stack: Stack;
  /** `(none)` without a model. */
  readonly endpointName: string;

  constructor(stack: Stack, endpointName: string) {
    this.stack = stack;
    this.endpointName = endpointName;
  }

  /** Gives a function the endpoint's name and the permission to stream from this endpoint only. */
  grantInvoke(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.modelEndpointName, this.endpointName);
    if (this.endpointName === noModelEndpoint) return;
    // SageMaker writes endpoint names in ARNs in lower case, but IAM compares case-sensitively. So both forms are named.
    const names = new Set([lowerCase(this.endpointName), this.endpointName]);
    fn.addToRolePolicy(
      new PolicyStatement({
        actions: ['sagemaker:InvokeEndpointWithResponseStream'],
        resources: [...names].map((resourceName) =>
          this.stack.formatArn({ service: 'sagemaker', resource: 'endpoint', resourceName }),
        ),
      }),
    );
  }
}

/** The name of the service's own endpoint is a reference to another stack, and in lower case there. */
function lowerCase(endpointName: string): string {
  return Token.isUnresolved(endpointName) ? endpointName : endpointName.toLowerCase();
}
