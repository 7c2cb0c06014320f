import { Duration } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import type { ServiceFunction } from './service-function.ts';

export interface GenerationWorkerProps {
  /** Runs requests that nobody waits for. */
  readonly run: ServiceFunction;
  /** Is told of those that could not be run, and gives their credits back. */
  readonly release: ServiceFunction;
  readonly asyncDeadlineSeconds: number;
}

/**
 * Lambda's queue between the functions that accept a request and the one that runs it. A run that failed is not repeated:
 * it may have painted. It goes to the function that releases, and so does what waited in the queue until its deadline.
 */
export class GenerationWorker extends Construct {
  private readonly run: ServiceFunction;

  constructor(scope: Construct, id: string, { run, release, asyncDeadlineSeconds }: GenerationWorkerProps) {
    super(scope, id);
    this.run = run;
    release.allowInvocationBy(run);
    run.live.configureAsyncInvoke({
      onFailure: { bind: () => ({ destination: release.liveArn }) },
      retryAttempts: 0,
      maxEventAge: Duration.seconds(asyncDeadlineSeconds),
    });
    // Lambda looks whether the role may invoke the destination when it is named.
    run.live.node.findChild('EventInvokeConfig').node.addDependency(run.role!);
  }

  grantInvoke(caller: ServiceFunction): void {
    caller.setVariable(environmentVariables.generationWorkerUrl, this.run.invocationsUrl);
    this.run.allowInvocationBy(caller);
  }
}
