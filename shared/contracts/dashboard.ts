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
}
