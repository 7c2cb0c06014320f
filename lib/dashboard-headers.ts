import { Duration } from 'aws-cdk-lib/core';
import {
  HeadersFrameOption,
  HeadersReferrerPolicy,
  type ResponseHeadersPolicyProps,
} from 'aws-cdk-lib/aws-cloudfront';
import { securityHeaders, type DashboardSources } from '../shared/accounts/dashboard-config.ts';

/** The headers of every answer, as CloudFront takes them. It has names of its own for some. */
export function dashboardHeaders(sources: DashboardSources): ResponseHeadersPolicyProps {
  const override = true;
  const headers = securityHeaders(sources);
  const custom = [
    'cross-origin-opener-policy',
    'cross-origin-resource-policy',
    'permissions-policy',
  ] as const;
  return {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: headers['content-security-policy'], override },
      // Without subdomains: the domain's owner may use others that are not ready for it.
      strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override },
      contentTypeOptions: { override },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override },
    },
    customHeadersBehavior: {
      customHeaders: custom.map((header) => ({ header, value: headers[header], override })),
    },
  };
}
