import { Validations, type App } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ServiceStack, type ServiceStackProps } from './service-stack.ts';

/** Adds the stack and AWS's security checks. A finding that is not accepted makes the synthesis fail. */
export function addService(app: App, props: ServiceStackProps): ServiceStack {
  const stack = new ServiceStack(app, props);
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return stack;
}
