/** `/config.json`: all that a dashboard knows of where it runs. */
export interface DashboardConfig {
  /** With the version, without a slash at the end. */
  apiBaseUrl: string;
  signIn: {
    /** The user pool's issuer. */
    issuer: string;
    clientId: string;
    /** Where `/oauth2/authorize`, `/oauth2/token`, `/oauth2/revoke` and `/logout` are. */
    domainUrl: string;
  };
  /** How many days requests and images are kept. */
  retentionDays: number;
  /** Whether owners are notified by e-mail of their used credits. */
  creditMails: boolean;
  /** Where customers change their subscriptions; null where the deployment names no place. */
  billingPortalUrl: string | null;
  /** Where customers ask for help, an e-mail address or a page; null where the deployment names none. */
  supportContact: string | null;
}
