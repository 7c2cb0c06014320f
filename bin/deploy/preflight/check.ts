import type { GetAccountCommandOutput } from '@aws-sdk/client-sesv2';
import type { Aws } from '../aws.ts';
import type { Deployment } from '../deployment.ts';
import type { Stack } from '../stacks.ts';

/** What a check found: what is true, what it means, and the way out. */
export interface Finding {
  /** Whether the deployment can't or must not begin. */
  stops: boolean;
  sentence: string;
}

/** The deployment that is about to begin. */
export interface Plan {
  aws: Aws;
  deployment: Deployment;
  /** The stacks that are deployed, by name. */
  targets: string[];
  /** Whether the operator wants new data stores although old ones are left. */
  newData: boolean;
}

/** What SES knows of the account, and of the address and its domain. */
export interface Ses {
  account: GetAccountCommandOutput;
  /** By identity: SUCCESS for what SES sends from, else its VerificationStatus; null for one that it does not know. */
  statuses: Map<string, string | null>;
}

/** What several checks need to know. Each is asked once. */
export interface Facts {
  /** The stacks of the configuration, also one that is not deployed this time. */
  stacks: Promise<Map<string, Stack>>;
  /** How many functions the account may run at once. */
  accountConcurrency: Promise<number>;
  /** What SES knows of the address that e-mails come from; null without one. */
  ses: Promise<Ses | null>;
}

export interface Check {
  /** Completes the sentence "It was not checked …". */
  subject: string;
  /** What it needs in IAM. */
  permission: string;
  /** The way out where it can't be made and that must stop the deployment; null where it need not. */
  unanswered?(plan: Plan, facts: Facts): Promise<string | null>;
  run(plan: Plan, facts: Facts): Promise<Finding[]>;
}

export const note = (sentence: string): Finding[] => [{ stops: false, sentence }];
export const stop = (sentence: string): Finding[] => [{ stops: true, sentence }];
