import { Duration, Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/config.ts';
import { jobs } from '../../shared/routes.ts';
import { liveAlias, ServiceFunction } from './service-function.ts';

export interface ReferenceFetcherProps {
  /** The dimension of its metrics. */
  readonly serviceName: string;
  readonly logRetention: RetentionDays;
}

/** Its callers wait no longer. */
const timeout = Duration.seconds(12);

/** It holds up to four files of 10 MB and checks them while the caller waits. */
const memoryMb = 1024;

/**
 * The function that fetches reference images from URLs of callers. Its role may only write its log and traces, so an
 * attack through a URL or an image gains no permission.
 */
export class ReferenceFetcher extends Construct {
  readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, props: ReferenceFetcherProps) {
    super(scope, id);
    const { functionName } = jobs.fetchReferences;
    this.fn = new ServiceFunction(this, 'Function', { ...props, functionName, timeout, memoryMb });
  }

  grantInvoke(caller: ServiceFunction): void {
    const { region, urlSuffix } = Stack.of(this);
    const path = `/2015-03-31/functions/${this.fn.functionName}%3A${liveAlias}/invocations`;
    caller.setVariable(
      environmentVariables.referenceFetcherUrl,
      `https://lambda.${region}.${urlSuffix}${path}`,
    );
    caller.addToRolePolicy(
      new PolicyStatement({
        actions: ['lambda:InvokeFunction'],
        // By name: the alias waits for alarms about its callers.
        resources: [`${this.fn.functionArn}:${liveAlias}`],
      }),
    );
  }
}
