import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Construct } from 'constructs';

export interface BudgetProps {
  readonly monthlyBudgetUsd: number;
  readonly topic: ITopic;
}

const notifications = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'ACTUAL', threshold: 100 },
  { notificationType: 'FORECASTED', threshold: 100 },
];

/**
 * Notifies when the account's costs of a month come near an amount, or are forecast to exceed it. It counts the whole account:
 * AWS counts a single stack only after somebody activated a tag for it, and an alarm that silently counts nothing is worse.
 * AWS updates the costs a few times a day, so this is no limit.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { monthlyBudgetUsd, topic }: BudgetProps) {
    super(scope, id);
    // It has no name: another amount or notification may replace it, and a replacement would find the name taken.
    new CfnBudget(this, 'Monthly', {
      budget: {
        budgetType: 'COST',
        timeUnit: 'MONTHLY',
        budgetLimit: { amount: monthlyBudgetUsd, unit: 'USD' },
      },
      notificationsWithSubscribers: notifications.map((notification) => ({
        notification: { ...notification, thresholdType: 'PERCENTAGE', comparisonOperator: 'GREATER_THAN' },
        subscribers: [{ subscriptionType: 'SNS', address: topic.topicArn }],
      })),
    });
  }
}
