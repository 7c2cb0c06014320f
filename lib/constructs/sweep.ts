import { Duration } from 'aws-cdk-lib/core';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct, IConstruct } from 'constructs';
import { jobs } from '../../shared/routes/jobs.ts';
import { JobSchedule } from './job-schedule.ts';
import { graph, period, serviceMetrics, window } from './monitoring/metrics.ts';
import {
  deadLettersIn,
  failuresOf,
  type AlarmRow,
  type Watched,
  type Widgets,
} from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface SweepProps {
  readonly fn: ServiceFunction;
  /** What takes minutes to deploy: in a new stack the sweep has run before it is there. */
  readonly slowest: IConstruct;
}

const { everyMinutes } = jobs.sweep.trigger;

/** Starts the sweep, which gives back the credits of requests that nobody ended, and watches that all credits are accounted for. */
export class Sweep extends JobSchedule implements Watched {
  private readonly slowest: IConstruct;

  constructor(scope: Construct, id: string, { fn, slowest }: SweepProps) {
    const does = 'Gives back the credits of requests that nobody ended';
    super(scope, id, { fn, everyMinutes, does });
    this.slowest = slowest;
  }

  get alarms(): AlarmRow[] {
    return [...this.creditAlarms(), ...this.runAlarms()];
  }

  get widgets(): Widgets {
    const metrics = serviceMetrics(this);
    const ended = metrics.of('leasesReleased', { label: 'requests ended', period });
    const failures = metrics.of('sweepFailures', { label: 'not ended', period });
    return { generations: [graph('Sweep', [ended, failures])] };
  }

  private creditAlarms(): AlarmRow[] {
    const metrics = serviceMetrics(this);
    const hour = { period: Duration.hours(1) };
    return [
      {
        id: 'credits-unbalanced',
        capability: 'credits',
        severity: 'warning',
        means: 'In an hour not as many credits were settled and released as were reserved.',
        // A function that crashed did not report its reservation. So the sums may differ in an hour in which the sweep
        // released a lease.
        metric: new MathExpression({
          expression: 'IF(leases > 0, 0, ABS(reserved - SUM([settled, released])))',
          usingMetrics: {
            leases: metrics.of('leasesReleased', hour),
            reserved: metrics.of('creditsReserved', hour),
            settled: metrics.of('creditsSettled', hour),
            released: metrics.of('creditsReleased', hour),
          },
          ...hour,
        }),
        threshold: 1,
      },
      {
        id: 'leases-released',
        capability: 'credits',
        severity: 'warning',
        means: 'The sweep ended requests whose function died.',
        metric: metrics.of('leasesReleased', { period: window }),
        threshold: 1,
      },
      {
        id: 'sweep-failures',
        capability: 'credits',
        severity: 'critical',
        means:
          'The sweep cannot end requests whose function died, so their credits stay held; or it cannot erase deleted ones.',
        metric: metrics.of('sweepFailures', { period }),
        threshold: 1,
        periods: 3,
      },
    ];
  }

  private runAlarms(): AlarmRow[] {
    const { fn, slowest } = this;
    const row = { capability: 'sweep', severity: 'critical' } as const;
    return [
      {
        ...row,
        id: 'sweep-missing',
        means: 'The sweep has not run for several of its turns.',
        metric: fn.metricInvocations({ period: Duration.minutes(everyMinutes) }),
        threshold: 1,
        below: true,
        periods: 5,
        missingDataBreaches: true,
        // So the alarm of a new stack does not start in ALARM.
        after: [this, slowest],
      },
      { ...row, id: 'sweep-errors', means: 'The sweep fails.', ...failuresOf(fn) },
      {
        ...row,
        id: 'sweep-dead-letters',
        severity: 'warning',
        means: 'Failed runs of the sweep are waiting to be looked at.',
        ...deadLettersIn(this.deadLetterQueue),
      },
    ];
  }
}
