import { Duration, Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/config.ts';
import { jobs } from '../../shared/routes.ts';
import { ServiceFunction } from './service-function.ts';

export interface ReferenceFetcherProps {
  /** What its metrics are kept under. */
  readonly serviceName: string;
  readonly logRetention: RetentionDays;
}

/** No longer than its callers wait for it. */
const timeout = Duration.seconds(12);

/** Four files of ten megabytes are held at once, and checked by one core while the caller waits. */
const memoryMb = 1024;

/**
 * The function that opens what strangers name, and its invocation as the one thing that may be done with it. Its own
 * role gets nothing but its log: whatever it may be talked into, there is nothing to be had there.
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
    const path = `/2015-03-31/functions/${this.fn.functionName}/invocations`;
    caller.setVariable(
      environmentVariables.referenceReaderUrl,
      `https://lambda.${region}.${urlSuffix}${path}`,
    );
    caller.addToRolePolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [this.fn.functionArn] }),
    );
  }
}
