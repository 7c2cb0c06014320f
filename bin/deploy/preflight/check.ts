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

/** What several checks need to know. Each is asked once. */
export interface Facts {
  /** The stacks of the configuration, also one that is not deployed this time. */
  stacks: Promise<Map<string, Stack>>;
  /** How many functions the account may run at once. */
  accountConcurrency: Promise<number>;
}

export interface Check {
  /** Completes the sentence "It was not checked …". */
  subject: string;
  /** What it needs in IAM. */
  permission: string;
  run(plan: Plan, facts: Facts): Promise<Finding[]>;
}

export const note = (sentence: string): Finding[] => [{ stops: false, sentence }];
export const stop = (sentence: string): Finding[] => [{ stops: true, sentence }];
