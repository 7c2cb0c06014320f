import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { environmentVariables, noModelEndpoint } from '../../shared/base/config.ts';
import { grantsOf, routes } from '../../shared/routes/routes.ts';
import { jobs, type Job } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import type { ConfigurationName } from '../support/configurations.ts';
import { functionIdOf, resolver, statementsOf } from '../support/policies.ts';
import { assemblyOf, modelTemplateOf, templateOf } from '../support/stack-templates.ts';
import { only, plain } from './resources.ts';

const all = [...Object.values(routes), ...Object.values(jobs)] as (Route | Job)[];
const calling = all
  .map((row) => ({
    functionName: row.functionName,
    grants: 'method' in row ? grantsOf(row) : row.grants,
  }))
  .filter(({ grants }) => grants.model);
const variablesOf = (name: ConfigurationName, functionName: string) => {
  const template = templateOf(name);
  return template.Resources[functionIdOf(template, functionName)]!.Properties.Environment.Variables;
};
const knownBy = (name: ConfigurationName, functionName: string): unknown =>
  variablesOf(name, functionName)[environmentVariables.modelEndpointName];

describe.each(calling)('$functionName', ({ functionName, grants }) => {
  const allowed = (name: ConfigurationName) => {
    const template = templateOf(name);
    const statements = statementsOf(template, functionIdOf(template, functionName), resolver({})).filter(
      ({ actions }) => actions.some((action) => action.startsWith('sagemaker:')),
    );
    return statements.flatMap(({ actions, resources }) =>
      actions.flatMap((action) =>
        resources.map((resource) => `${action} ${resource.split(/:endpoint\/|sagemaker:.*:(?=inf)/)[1]}`),
      ),
    );
  };

  test('without a model knows of none and may call none', () => {
    expect([knownBy('default', functionName), allowed('default')]).toEqual([noModelEndpoint, []]);
  });

  test('may stream from the endpoint that the configuration names, as SageMaker and as IAM write it', () => {
    expect(knownBy('existingEndpoint', functionName)).toBe('Painter-2');
    expect(allowed('existingEndpoint').toSorted()).toEqual([
      'sagemaker:InvokeEndpointWithResponseStream Painter-2',
      'sagemaker:InvokeEndpointWithResponseStream painter-2',
    ]);
  });

  test.each(['everything', 'tuned', 'small'] as const)(
    'with "%s" gets the endpoint from the model\'s stack, so it is never deployed before the endpoint is there',
    (name) => {
      const model = modelTemplateOf(name);
      const { EndpointName: output } = model.Outputs!;
      expect(plain(output.Value)).toBe(`<${only(model, 'AWS::SageMaker::Endpoint').id}.EndpointName>`);
      const imported = { 'Fn::ImportValue': output.Export.Name };
      expect(knownBy(name, functionName)).toEqual(imported);
      expect(allowed(name)).toEqual([`sagemaker:InvokeEndpointWithResponseStream <${output.Export.Name}>`]);
      expect(variablesOf(name, functionName)).not.toHaveProperty(environmentVariables.modelComponentName);
    },
  );

  test.each(['atZero', 'atZeroSmall'] as const)(
    'with "%s" gets the component too, from the same stack, and may stream from it or see how it is, not both',
    (name) => {
      const { EndpointName: endpoint, ComponentName: component } = modelTemplateOf(name).Outputs!;
      expect(component.Value).toBe(
        only(modelTemplateOf(name), 'AWS::SageMaker::InferenceComponent').Properties.InferenceComponentName,
      );
      expect(knownBy(name, functionName)).toEqual({ 'Fn::ImportValue': endpoint.Export.Name });
      expect(variablesOf(name, functionName)[environmentVariables.modelComponentName]).toEqual({
        'Fn::ImportValue': component.Export.Name,
      });
      const [endpointName, componentName] = [endpoint, component].map(({ Export }) => `<${Export.Name}>`);
      const stream = 'sagemaker:InvokeEndpointWithResponseStream';
      expect(allowed(name)).toEqual(
        grants.modelStatus
          ? [`sagemaker:DescribeInferenceComponent inference-component/${componentName}`]
          : [`${stream} ${endpointName}`, `${stream} inference-component/${componentName}`],
      );
    },
  );
});

test('how a model is that may be scaled to zero is seen by one function, which has no use of the others’ permission', () => {
  expect(calling.filter(({ grants }) => grants.modelStatus).map(({ functionName }) => functionName)).toEqual([
    'get-health',
  ]);
});

test('another instance type or form is another stack and another endpoint, so the old one stays until the service has changed', () => {
  const nameIn = (name: ConfigurationName) =>
    only(modelTemplateOf(name), 'AWS::SageMaker::Endpoint').Properties.EndpointName;
  expect([nameIn('small'), nameIn('atZeroSmall'), nameIn('tuned')]).toEqual([
    'image-generation-prod-model-g6-xlarge',
    'image-generation-prod-model-g6-xlarge-zero',
    'image-generation-prod-model-g6e-2xlarge',
  ]);
});

describe("the app's stacks", () => {
  const artifactsOf = (name: ConfigurationName) => {
    const { artifacts } = JSON.parse(readFileSync(join(assemblyOf(name), 'manifest.json'), 'utf8'));
    const stacks = Object.entries<any>(artifacts).filter(
      ([, { type }]) => type === 'aws:cloudformation:stack',
    );
    return new Map(stacks);
  };
  const service = 'image-generation-test';
  const [model, network] = [`${service}-model-g6-xlarge`, `${service}-network`];

  test('are the service, before it the model, and before that its network, all protected from deletion', () => {
    const artifacts = artifactsOf('everything');
    expect([...artifacts.keys()].toSorted()).toEqual([service, model, network]);
    expect(artifacts.get(service).dependencies).toContain(model);
    expect(artifacts.get(model).dependencies).toContain(network);
    for (const { properties } of artifacts.values()) expect(properties.terminationProtection).toBe(true);
  });

  test.each(['default', 'existingEndpoint'] as const)('are with "%s" the service alone', (name) => {
    expect(artifactsOf(name).size).toBe(1);
  });
});
