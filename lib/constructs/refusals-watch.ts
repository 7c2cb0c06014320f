import { MathExpression, Stats, type Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { IConstruct } from 'constructs';
import { checksPictures, type Configuration } from '../configuration.ts';
import { hour, serviceMetrics } from './monitoring/metrics.ts';
import type { AlarmRow, Watched } from './monitoring/watched.ts';

/** So many refused in an hour are told of at the earliest: a share of few says little. */
const fewestRefused = 20;

/** Watches the shares of prompts and of pictures that are refused for their content, each where it is checked. */
export function watchRefusals(
  scope: IConstruct,
  { moderation, inference }: Pick<Configuration, 'moderation' | 'inference'>,
): Watched {
  const metrics = serviceMetrics(scope);
  const { prompt, noticePercent } = moderation;
  const many = (id: string, whole: string, refused: Metric, allowed: Metric): AlarmRow => ({
    id,
    capability: 'api',
    severity: 'warning',
    means: `At least ${noticePercent}% of the ${whole} of an hour were refused.`,
    metric: new MathExpression({
      expression: `IF(refused >= ${fewestRefused}, 100 * refused / SUM([refused, allowed]), 0)`,
      usingMetrics: { refused, allowed },
      period: hour,
    }),
    threshold: noticePercent,
  });
  const checks = (outcome: string) => metrics.count('promptChecks', outcome, { period: hour });
  const refusedPictures = metrics.of('refusedPictures', { period: hour });
  const completed = metrics.of('paintTime', { statistic: Stats.SAMPLE_COUNT, period: hour });
  return {
    alarms: [
      ...(prompt.kind === 'none'
        ? []
        : [many('prompts-refused', 'prompts', checks('refused'), checks('allowed'))]),
      ...(checksPictures(inference)
        ? [many('pictures-refused', 'pictures', refusedPictures, completed)]
        : []),
    ],
  };
}
