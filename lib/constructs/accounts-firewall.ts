import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { UserPool } from 'aws-cdk-lib/aws-cognito';
import { Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { limitOf, matches, visibility } from './firewall.ts';

/** Of one IP address in five minutes: enough for an office in which everybody signs in, and for a class that signs up. */
const requests = 1000;
const mails = 30;

/** Whatever makes Cognito send an e-mail: pages of managed login (Amazon Cognito, "User-interactive managed login"), and the API. */
const asksForMail = {
  orStatement: {
    statements: [
      matches({ uriPath: {} }, '^/(signup|forgotPassword|resendcode)'),
      matches(
        { singleHeader: { Name: 'x-amz-target' } },
        '\\.(SignUp|ForgotPassword|ResendConfirmationCode|GetUserAttributeVerificationCode)$',
      ),
    ],
  },
};
const pageVisits = matches({ method: {} }, '^GET$');

/**
 * Limits for each IP address in front of the sign-in pages and of the pool's API, which anybody may call. It is not the API's
 * firewall: AWS's managed rules refuse a sign-in that returns to an app on 127.0.0.1. AWS WAF is shown no e-mail address and no
 * password (Amazon Cognito, "Associate an AWS WAF web ACL with a user pool").
 */
export class AccountsFirewall extends Construct {
  constructor(scope: Construct, id: string, { userPool }: { readonly userPool: UserPool }) {
    super(scope, id);
    const rules = {
      'accounts-mails-per-address': limitOf(mails, {
        andStatement: { statements: [asksForMail, { notStatement: { statement: pageVisits } }] },
      }),
      'accounts-requests-per-address': limitOf(requests),
    };
    const webAcl = new CfnWebACL(this, 'WebAcl', {
      scope: 'REGIONAL',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(`${Stack.of(this).stackName}-accounts`),
      rules: Object.entries(rules).map(([name, statement], priority) => ({
        name,
        priority,
        action: { block: {} },
        visibilityConfig: visibility(name),
        statement,
      })),
    });
    new CfnWebACLAssociation(this, 'Association', {
      resourceArn: userPool.userPoolArn,
      webAclArn: webAcl.attrArn,
    });
  }
}
