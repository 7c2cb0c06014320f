import { Duration } from 'aws-cdk-lib/core';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/config.ts';
import { jobs } from '../../shared/routes.ts';
import { ServiceFunction } from './service-function.ts';

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
    caller.setVariable(environmentVariables.referenceFetcherUrl, this.fn.invocationsUrl);
    this.fn.allowInvocationBy(caller);
  }
}
