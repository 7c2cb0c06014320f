import { Duration } from 'aws-cdk-lib/core';
import {
  HeadersFrameOption,
  HeadersReferrerPolicy,
  type ResponseHeadersPolicyProps,
} from 'aws-cdk-lib/aws-cloudfront';

/** Other origins that the dashboard's pages may use. */
export interface DashboardSources {
  /** For requests: the API, the sign-in domain, the bucket of images. */
  readonly connectSources: readonly string[];
  /** For images: the bucket. */
  readonly imageSources: readonly string[];
}

/** Security headers of every answer. They are as strict as the local runtime's, which has a single origin. */
export function dashboardHeaders(sources: DashboardSources): ResponseHeadersPolicyProps {
  const override = true;
  return {
    securityHeadersBehavior: {
      contentSecurityPolicy: { contentSecurityPolicy: contentSecurityPolicy(sources), override },
      // Without subdomains: the domain's owner may use others that are not ready for it.
      strictTransportSecurity: { accessControlMaxAge: Duration.days(365), override },
      contentTypeOptions: { override },
      frameOptions: { frameOption: HeadersFrameOption.DENY, override },
      referrerPolicy: { referrerPolicy: HeadersReferrerPolicy.NO_REFERRER, override },
    },
    customHeadersBehavior: {
      customHeaders: [
        { header: 'cross-origin-opener-policy', value: 'same-origin', override },
        { header: 'cross-origin-resource-policy', value: 'same-origin', override },
        {
          header: 'permissions-policy',
          value: 'camera=(), geolocation=(), microphone=(), payment=()',
          override,
        },
      ],
    },
  };
}

function contentSecurityPolicy({ connectSources, imageSources }: DashboardSources): string {
  return [
    "default-src 'self'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    ["img-src 'self' data: blob:", ...imageSources].join(' '),
    ["connect-src 'self'", ...connectSources].join(' '),
    "font-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
