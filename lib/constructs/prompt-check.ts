import { Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { environmentVariables, type PromptCheckSettings } from '../../shared/base/config.ts';
import { serviceMetrics, window } from './monitoring/metrics.ts';
import type { AlarmRow, Watched } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

/** What prompts are checked with: who may ask it, and what is watched. */
export class PromptCheck extends Construct implements Watched {
  private readonly settings: PromptCheckSettings;

  constructor(scope: Construct, id: string, settings: PromptCheckSettings) {
    super(scope, id);
    this.settings = settings;
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
    ];
  }
}
