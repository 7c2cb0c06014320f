import { Duration, Stack } from 'aws-cdk-lib/core';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import type { Configuration } from '../configuration.ts';
import { failuresOf, type AlarmRow, type Watched } from './monitoring/watched.ts';
import { ServiceFunction } from './service-function.ts';

export interface ReferenceFetcherProps extends Pick<Configuration, 'supportContact'> {
  readonly logRetention: RetentionDays;
}

/**
 * The function that fetches reference images from URLs of callers. Its role may only write its log and traces, so an
 * attack through a URL or an image gains no permission.
 */
export class ReferenceFetcher extends Construct implements Watched {
  readonly fn: ServiceFunction;

  constructor(scope: Construct, id: string, { logRetention, supportContact }: ReferenceFetcherProps) {
    super(scope, id);
    this.fn = new ServiceFunction(this, 'Function', {
      logRetention,
      serviceName: Stack.of(this).stackName,
      functionName: jobs.fetchReferences.functionName,
      // Its callers wait no longer.
      timeout: Duration.seconds(12),
      // It holds up to four files of 10 MB and checks them while the caller waits.
      memoryMb: 1024,
    });
    // Named to the servers that it fetches from.
    this.fn.setVariable(environmentVariables.supportContact, supportContact ?? '');
  }

  get alarms(): AlarmRow[] {
    return [
      {
        id: 'references-errors',
        capability: 'references',
        severity: 'critical',
        means: 'Reference images cannot be read, so requests with them are refused with SERVICE_UNAVAILABLE.',
        ...failuresOf(this.fn),
      },
    ];
  }
}
