import { Duration } from 'aws-cdk-lib/core';
import { MathExpression, Stats, type IWidget, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import type { ErrorCode } from '../../shared/base/errors.ts';
import { metricTable, type MetricName } from '../../shared/base/metrics.ts';
import type { HttpApi } from './http-api.ts';
import { queueSettings } from './job-schedule.ts';
import type { ModelAccess } from './model-access.ts';
import { axisOf, graph, period, serviceMetrics, share, window } from './monitoring/metrics.ts';
import type { AlarmRow, Watched, Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface GenerationWorkerProps {
  /** Runs requests that nobody waits for. */
  readonly run: ServiceFunction;
  /** Gets those that could not be run, and gives their credits back. */
  readonly release: ServiceFunction;
  readonly asyncDeadlineSeconds: number;
  readonly generationDeadlineSeconds: number;
  readonly api: HttpApi;
  readonly model: ModelAccess;
  /** How many functions the account runs at once; 0 if nobody asked. */
  readonly accountConcurrency: number;
}

/** The shortest time between two tries of a model that is asleep or busy, once they are far apart (`modelPauseMs`). */
const shortestPauseSeconds = 7.5;
/** The first tries come sooner. */
const earlyTries = 5;
/** Runs at once, whatever the account has. */
const mostRuns = 100;
/** The least that Lambda takes (Lambda API, "ScalingConfig"). */
const fewestRuns = 2;

/** Fewer failures than this may be chance. */
const minFailures = 3;

const critical = { capability: 'generation', severity: 'critical' } as const;

const phaseTitles = {
  acceptTime: 'Accept: until credits are reserved',
  queueWait: 'Queue: until the model starts',
  paintTime: 'Paint: until the images are stored',
  settleTime: 'Settle: until the charge is stored',
} satisfies Partial<Record<MetricName, string>>;

/**
 * The queue between the functions that accept a request and the one that runs it. A request whose model has not begun goes
 * back to it for a pause. Each license has its turn (Amazon SQS, "Fair queues"). What is brought too often goes to the function
 * that releases. Generations that a caller waits for are watched here too.
 */
export class GenerationWorker extends Construct implements Watched {
  readonly run: ServiceFunction;
  readonly release: ServiceFunction;
  private readonly queue: Queue;
  private readonly props: GenerationWorkerProps;

  constructor(scope: Construct, id: string, props: GenerationWorkerProps) {
    super(scope, id);
    const { run, release, asyncDeadlineSeconds, accountConcurrency } = props;
    this.run = run;
    this.release = release;
    this.props = props;
    const deadLetterQueue = new Queue(this, 'DeadLetters', {
      ...queueSettings,
      visibilityTimeout: Duration.seconds(6 * release.timeout!.toSeconds()),
    });
    this.queue = new Queue(this, 'Requests', {
      ...queueSettings,
      // No message comes back while a run of it may go on.
      visibilityTimeout: Duration.seconds(run.timeout!.toSeconds() + 30),
      deadLetterQueue: {
        queue: deadLetterQueue,
        // More often than a model can be asked before the deadline.
        maxReceiveCount: 2 * Math.ceil(asyncDeadlineSeconds / shortestPauseSeconds + earlyTries),
      },
    });
    // A fifth of the account's executions: a flood leaves room for everything else.
    const maxConcurrency = Math.max(fewestRuns, Math.min(mostRuns, Math.floor(accountConcurrency / 5)));
    run.live.addEventSource(
      new SqsEventSource(this.queue, { batchSize: 1, maxConcurrency, reportBatchItemFailures: true }),
    );
    release.live.addEventSource(
      new SqsEventSource(deadLetterQueue, { batchSize: 1, maxConcurrency: fewestRuns }),
    );
    run.setVariable(environmentVariables.generationQueueUrl, this.queue.queueUrl);
  }

  allowSending(fn: ServiceFunction): void {
    fn.setVariable(environmentVariables.generationQueueUrl, this.queue.queueUrl);
    fn.addToRolePolicy(
      new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.queue.queueArn] }),
    );
  }

  get alarms(): AlarmRow[] {
    return [...this.failureAlarms(), ...this.loadAlarms(), ...this.queueAlarms()];
  }

  get widgets(): Widgets {
    return { generations: [...this.phaseGraphs(), ...this.queueGraphs(), ...this.creditGraphs()] };
  }

  private failureAlarms(): AlarmRow[] {
    const { api } = this.props;
    const metrics = serviceMetrics(this);
    const { accepted, refused } = this.ends();
    const runs = { whole: accepted, beside: refused };
    const requests = { whole: api.requests({ period: window }) };
    const failing = (
      id: string,
      means: string,
      code: ErrorCode,
      { whole, ...options }: { whole: Metric; beside?: Metric },
      percent: number,
    ): AlarmRow => {
      const failed = metrics.count('errors', code, { period: window });
      const metric = share({ failed }, whole, { ...options, atLeast: minFailures, period: window });
      return { ...critical, id, means, metric, threshold: percent };
    };
    return [
      failing('generation-failed', 'Generations fail after acceptance.', 'GENERATION_FAILED', runs, 10),
      failing('generation-timeout', 'Generations are not done by their deadline.', 'TIMEOUT', runs, 10),
      failing(
        'service-unavailable',
        'Requests are refused because something the service needs is away.',
        'SERVICE_UNAVAILABLE',
        requests,
        1,
      ),
      failing(
        'internal-errors',
        'Requests meet a fault that nobody foresaw.',
        'INTERNAL_ERROR',
        requests,
        0.1,
      ),
      this.noneCompleted(),
    ];
  }

  private noneCompleted(): AlarmRow {
    return {
      ...critical,
      id: 'generation-none',
      means: 'Generations are accepted and not one of them is completed.',
      metric: new MathExpression({
        // A list skips metrics without data.
        expression: `IF(SUM([accepted, -1 * refused]) >= ${minFailures} AND SUM([accepted, completed]) == accepted, 1, 0)`,
        usingMetrics: this.ends(),
        period: window,
      }),
      threshold: 1,
    };
  }

  /** Accepted generations, all counted beside their ends. */
  private ends() {
    const metrics = serviceMetrics(this);
    return {
      accepted: metrics.of('creditsReserved', { statistic: Stats.SAMPLE_COUNT, period: window }),
      completed: metrics.of('paintTime', { statistic: Stats.SAMPLE_COUNT, period: window }),
      refused: metrics.of('refusedRuns', { period: window }),
    };
  }

  /** Any load may start them, also that of one caller. */
  private loadAlarms(): AlarmRow[] {
    const { api, model } = this.props;
    const metrics = serviceMetrics(this);
    const refused = metrics.count('refusals', 'SERVICE_UNAVAILABLE', { period: window });
    const late = metrics.count('refusals', 'TIMEOUT', { period: window });
    const busy = share({ refused, late }, api.requests({ period: window }), { atLeast: 5, period: window });
    const slow = (id: string, means: string, name: 'queueWait' | 'paintTime'): AlarmRow => ({
      id,
      capability: 'generation',
      severity: 'warning',
      means,
      metric: new MathExpression({
        expression: `IF(measured >= 5, p90 / 1000, 0)`,
        usingMetrics: {
          measured: metrics.of(name, { statistic: Stats.SAMPLE_COUNT, period: window }),
          p90: metrics.of(name, { statistic: Stats.percentile(90), period: window }),
        },
        period: window,
      }),
      threshold: this.props.generationDeadlineSeconds / 2,
    });
    return [
      slow('generation-queue', 'One generation in ten waits half its deadline for the model.', 'queueWait'),
      slow('generation-slow', 'One generation in ten is painted for half its deadline.', 'paintTime'),
      {
        id: 'service-busy',
        capability: 'generation',
        severity: 'warning',
        means: 'Requests are refused because more is asked for than the service can do.',
        metric: model.unlessAtZero(busy, 'whole'),
        threshold: 5,
      },
    ];
  }

  /** About requests that nobody waits for on the line. */
  private queueAlarms(): AlarmRow[] {
    const { release } = this;
    const row = { capability: 'generation', severity: 'warning' } as const;
    return [
      {
        ...row,
        id: 'async-failed-runs',
        means: 'Asynchronous requests were given up: they were brought too often to be run.',
        metric: release.metricInvocations({ period: window }),
        threshold: 1,
      },
      {
        ...row,
        id: 'async-delayed',
        means: 'Asynchronous requests wait half their deadline in the queue before they are run.',
        // What was tried three times is not counted in it (Amazon SQS, "Available CloudWatch metrics").
        metric: this.queue.metricApproximateAgeOfOldestMessage({ statistic: Stats.MAXIMUM, period }),
        threshold: this.props.asyncDeadlineSeconds / 2,
        periods: 2,
      },
    ];
  }

  /** How long each phase of a generation takes. */
  private phaseGraphs(): IWidget[] {
    return (Object.keys(phaseTitles) as (keyof typeof phaseTitles)[]).map((name) =>
      graph(phaseTitles[name], this.percentiles(name), axisOf(metricTable[name].unit)),
    );
  }

  /** Requests that nobody waits for on the line. */
  private queueGraphs(): IWidget[] {
    const { run, release } = this;
    const axis = axisOf('Milliseconds');
    return [
      graph('Asynchronous: until the model starts', this.percentiles('asyncWait'), axis),
      graph('Asynchronous: requests in the queue', [
        this.queue.metricApproximateNumberOfMessagesVisible({ label: 'waiting', period }),
        this.queue.metricApproximateNumberOfMessagesNotVisible({ label: 'running, or in a pause', period }),
      ]),
      graph('Asynchronous: tries', [
        run.metricInvocations({ label: 'tries', period }),
        release.metricInvocations({ label: 'given up', period }),
      ]),
      graph('Asynchronous: tries at once', [
        run.metric('ConcurrentExecutions', { statistic: Stats.MAXIMUM, label: 'at once', period }),
      ]),
    ];
  }

  private creditGraphs(): IWidget[] {
    const metrics = serviceMetrics(this);
    const sum = (name: MetricName, label: string) => metrics.of(name, { label, period });
    return [
      graph('Credits', [
        sum('creditsReserved', 'reserved'),
        sum('creditsSettled', 'settled'),
        sum('creditsReleased', 'released'),
      ]),
      graph('Accepted, and ended without an image and a fault', [
        sum('refusedRuns', 'requests'),
        sum('refusedPictures', 'whose pictures were refused'),
      ]),
      graph('Images', [sum('imagesDelivered', 'images')], {
        right: [sum('imageBytes', 'bytes')],
        rightYAxis: axisOf(metricTable.imageBytes.unit).leftYAxis!,
      }),
    ];
  }

  private percentiles(name: MetricName): Metric[] {
    const metrics = serviceMetrics(this);
    return [50, 90, 99].map((percent) =>
      metrics.of(name, { statistic: Stats.percentile(percent), label: `p${percent}`, period }),
    );
  }
}
