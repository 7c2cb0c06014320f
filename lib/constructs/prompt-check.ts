import { Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { Configuration } from '../configuration.ts';
import { environmentVariables, type PromptCheckSettings } from '../../shared/base/config.ts';
import { graph, serviceMetrics, window } from './monitoring/metrics.ts';
import type { AlarmRow, Watched, Widgets } from './monitoring/watched.ts';
import type { ServiceFunction } from './service-function.ts';

type Moderation = Configuration['moderation'];

/** What prompts are checked with, if with anything: who may ask it, and what is watched. */
export class PromptCheck extends Construct implements Watched {
  private readonly moderation: Moderation;
  private readonly settings: Moderation['prompt'];

  constructor(scope: Construct, id: string, moderation: Moderation) {
    super(scope, id);
    this.moderation = moderation;
    this.settings = moderation.prompt;
  }

  get isOn(): boolean {
    return this.settings.kind !== 'none';
  }

  /** Lets a function ask, and nothing else. */
  grant(fn: ServiceFunction): void {
    const { settings } = this;
    if (settings.kind === 'none') return;
    const days = this.moderation.keepRefusedPrompts;
    const kept: PromptCheckSettings = { ...settings, ...(days !== null && { keepRefusedDays: days }) };
    fn.setVariable(environmentVariables.promptCheck, JSON.stringify(kept));
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
    if (this.settings.kind === 'none') return [];
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

  get widgets(): Widgets {
    if (!this.isOn) return {};
    const outcomes = serviceMetrics(this).every('promptChecks');
    return { requests: [graph('Checks of prompts by outcome', [outcomes], { stacked: true })] };
  }
}
