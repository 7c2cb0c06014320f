import { Stack } from 'aws-cdk-lib/core';
import { MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Configuration } from '../configuration.ts';
import { environmentVariables, type PromptCheckSettings } from '../../shared/base/config.ts';
import { hour, serviceMetrics, window } from './monitoring/metrics.ts';
import type { AlarmRow, Watched } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

export interface PromptCheckProps extends Pick<Configuration['moderation'], 'noticePercent'> {
  readonly settings: PromptCheckSettings;
}

/** So many refused in an hour are told of at the earliest: a share of few says little. */
const fewestRefused = 20;

/** What prompts are checked with: who may ask it, and what is watched. */
export class PromptCheck extends Construct implements Watched {
  private readonly settings: PromptCheckSettings;
  private readonly noticePercent: number;

  constructor(scope: Construct, id: string, { settings, noticePercent }: PromptCheckProps) {
    super(scope, id);
    this.settings = settings;
    this.noticePercent = noticePercent;
  }

  /** Lets a function ask, and nothing else. */
  grant(fn: ServiceFunction): void {
    const { settings } = this;
    fn.setVariable(environmentVariables.promptCheck, JSON.stringify(settings));
    const [action, resource] =
      settings.kind === 'http'
        ? ['secretsmanager:GetSecretValue', settings.secretArn]
        : ['bedrock:ApplyGuardrail', this.guardrailArn(settings.guardrailId)];
    fn.addToRolePolicy(new PolicyStatement({ actions: [action], resources: [resource] }));
  }

  private guardrailArn(resourceName: string): string {
    return Stack.of(this).formatArn({ service: 'bedrock', resource: 'guardrail', resourceName });
  }

  private refusedShare(): MathExpression {
    const count = (outcome: string) => serviceMetrics(this).count('promptChecks', outcome, { period: hour });
    return new MathExpression({
      expression: `IF(refused >= ${fewestRefused}, 100 * refused / SUM([refused, allowed]), 0)`,
      usingMetrics: { refused: count('refused'), allowed: count('allowed') },
      period: hour,
    });
  }

  get alarms(): AlarmRow[] {
    const then = this.settings.onFailure === 'refuse' ? 'are refused with 503' : 'are generated unchecked';
    return [
      {
        id: 'prompts-not-checked',
        capability: 'api',
        severity: 'critical',
        means: `Prompts cannot be checked, and ${then}.`,
        metric: serviceMetrics(this).count('promptChecks', 'failed', { period: window }),
        threshold: 5,
      },
      {
        id: 'prompts-refused',
        capability: 'api',
        severity: 'warning',
        means: `At least ${this.noticePercent}% of the prompts of an hour were refused.`,
        metric: this.refusedShare(),
        threshold: this.noticePercent,
      },
    ];
  }
}
