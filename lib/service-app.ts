import { Annotations, Validations, type App } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { ModelStack } from './model-stack.ts';
import { unknownGenerationTime } from './generation-time.ts';
import { ServiceStack, type ServiceStackProps } from './service-stack.ts';

export interface ServiceAppProps extends Omit<ServiceStackProps, 'model'> {
  /** Whether to add AWS's security checks. A finding that is not accepted makes the synthesis fail. @default true */
  readonly checked?: boolean;
}

/** Adds the service's stack, and before it the model's, if the configuration has an endpoint of its own. */
export function addService(app: App, { checked = true, ...props }: ServiceAppProps): ServiceStack {
  const { configuration } = props;
  const model = configuration.inference.kind === 'endpoint' ? new ModelStack(app, configuration) : null;
  const service = new ServiceStack(app, { ...props, model });
  if (model !== null) service.addStackDependency(model, 'Its functions call the endpoint.');
  const unknown = unknownGenerationTime(configuration);
  if (unknown !== null) Annotations.of(service).addWarningV2('image-generation:painting-time', unknown);
  if (checked) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return service;
}
