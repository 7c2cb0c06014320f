import { Template } from 'aws-cdk-lib/assertions';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { App, Duration, Stack } from 'aws-cdk-lib/core';
import { readConfiguration } from '../../lib/configuration.ts';
import { Inference } from '../../lib/constructs/inference.ts';
import { ServiceFunction } from '../../lib/constructs/service-function.ts';

/** An image in ECR, and an endpoint of the stack's own that runs it. */
export const uri = '123456789012.dkr.ecr.eu-west-1.amazonaws.com/team/painter:1.2';
export const ownEndpoint = { kind: 'endpoint', modelData: 's3://weights/models/sdxl/', image: { uri } };

/** A stack with a function that uses this model. */
export function deployed(options: object, generationDeadlineSeconds = 60) {
  const app = new App({ context: { 'aws:cdk:bundling-stacks': [] } });
  const stack = new Stack(app, 'image-generation-Test');
  const { inference } = readConfiguration({ inference: options }, 'The test');
  const model = new Inference(stack, 'Inference', { inference, generationDeadlineSeconds });
  const fn = new ServiceFunction(stack, 'Generate', {
    functionName: 'create-generation',
    serviceName: 'test',
    timeout: Duration.seconds(90),
    logRetention: RetentionDays.ONE_WEEK,
  });
  model.grantInvoke(fn);
  const template = Template.fromStack(stack);
  return { app, model, template, statementsOf: (role: string) => statementsOf(template, role) };
}

interface Statement {
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
}

/** The policy statements of the role whose logical name begins so, with their tokens written as text. */
function statementsOf(template: Template, role: string): Statement[] {
  const policies = Object.entries(template.findResources('AWS::IAM::Policy'));
  return policies
    .filter(([id]) => id.startsWith(role))
    .flatMap(([, { Properties }]) => JSON.parse(plain(Properties.PolicyDocument.Statement)));
}

/** JSON with its tokens written as text. */
export function plain(value: unknown): string {
  return JSON.stringify(value, (_, part) =>
    part?.['Fn::Join']
      ? part['Fn::Join'][1]
          .map((piece: unknown) =>
            typeof piece === 'string' ? piece : ((piece as { 'Fn::Sub'?: string })['Fn::Sub'] ?? '*'),
          )
          .join('')
      : part,
  );
}

export const allowing = (statements: Statement[], action: string) =>
  statements.filter(({ Action }) => [Action].flat().includes(action));
