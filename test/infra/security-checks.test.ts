import { describe, expect, test } from '@jest/globals';
import { App, type Stack } from 'aws-cdk-lib/core';
import { Template } from 'aws-cdk-lib/assertions';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { readConfiguration } from '../../lib/configuration.ts';
import { addService } from '../../lib/service-app.ts';
import { dashboardFolder } from '../support/stack.ts';
import { cdkContext, everything, type Options } from '../support/synthesized.ts';

const deployments: [string, Options][] = [
  ['the defaults', {}],
  ['everything that can be configured', everything],
  ['an endpoint that exists already', { inference: { kind: 'existing', endpointName: 'Mine' } }],
];

function checked(options: Options): Stack {
  const app = new App({ context: { ...cdkContext, 'aws:cdk:bundling-stacks': [] } });
  return addService(app, { configuration: readConfiguration(options, 'The test'), dashboardFolder });
}

describe.each(deployments)('%s', (_what, options) => {
  test('leave no finding of AWS Solutions but those that were accepted with a reason', () => {
    expect(() => Template.fromStack(checked(options))).not.toThrow();
  });
});

test('a finding that nobody accepted fails', () => {
  const stack = checked({});
  new Queue(stack, 'Planted');
  expect(() => Template.fromStack(stack)).toThrow(/SQS3|SQS4|Validation failed/);
});
