import { Stack } from 'aws-cdk-lib/core';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { environmentVariables as names } from '../../shared/base/config.ts';
import type { Configuration } from '../configuration.ts';
import { mailIdentities } from '../contacts.ts';
import type { ServiceFunction } from './service-function.ts';

export interface MailProps extends Pick<Configuration, 'billingPortalUrl' | 'supportContact'> {
  readonly mail: NonNullable<Configuration['mail']>;
  /** Every e-mail links to it. */
  readonly dashboardOrigin: string;
}

/** The right to send e-mails from an address, which the operator has verified in SES, and what they link to. */
export function grantMail(fn: ServiceFunction, props: MailProps): void {
  const { mail, dashboardOrigin, billingPortalUrl, supportContact } = props;
  fn.setVariable(names.mailFrom, mail.from);
  fn.setVariable(names.dashboardUrl, `${dashboardOrigin}/`);
  fn.setVariable(names.billingPortalUrl, billingPortalUrl ?? '');
  fn.setVariable(names.supportContact, supportContact ?? '');
  const stack = Stack.of(fn);
  const resources = mailIdentities(mail.from).map((resourceName) =>
    stack.formatArn({ service: 'ses', resource: 'identity', resourceName }),
  );
  fn.addToRolePolicy(new PolicyStatement({ actions: ['ses:SendEmail'], resources }));
}
