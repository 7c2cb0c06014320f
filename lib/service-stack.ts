import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, Stack, type App } from 'aws-cdk-lib/core';
import type { ILogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { environmentVariables } from '../shared/config.ts';
import { grantsOf, jobs, routes, type Grants, type Job, type Route } from '../shared/routes.ts';
import { stackNameOf, type Configuration } from './configuration.ts';
import { Accounts } from './constructs/accounts.ts';
import { Backups } from './constructs/backups.ts';
import { BillingQueue } from './constructs/billing-queue.ts';
import { DashboardSite } from './constructs/dashboard-site.ts';
import { Firewall } from './constructs/firewall.ts';
import { HttpApi } from './constructs/http-api.ts';
import { ImageBucket } from './constructs/image-bucket.ts';
import { Inference } from './constructs/inference.ts';
import { Monitoring, type MonitoringProps } from './constructs/monitoring/monitoring.ts';
import type { BillingSource, RouteFunction, SweepSource } from './constructs/monitoring/sources.ts';
import { RecordTable } from './constructs/record-table.ts';
import { ReferenceFetcher } from './constructs/reference-fetcher.ts';
import { ServiceFunction } from './constructs/service-function.ts';
import { SweepSchedule } from './constructs/sweep-schedule.ts';

export interface ServiceStackProps {
  readonly configuration: Configuration;
  /** The built dashboard. @default `dashboard/dist` */
  readonly dashboardFolder?: string;
}

/** A generation's function may run this much longer than the deadline, to store the outcome. */
const generationMarginSeconds = 30;
const bufferedTimeout = Duration.seconds(20);
const jobTimeout = Duration.seconds(60);
const pricesFile = 'billing-prices.json';

/** The whole service. */
export class ServiceStack extends Stack {
  private readonly configuration: Configuration;
  private readonly records: RecordTable;
  private readonly images: ImageBucket;
  private readonly inference: Inference;
  private readonly references: ReferenceFetcher;
  private readonly accounts: Accounts;
  private readonly api: HttpApi;

  constructor(app: App, { configuration, dashboardFolder }: ServiceStackProps) {
    super(app, stackNameOf(configuration), { description: 'Image Generation Service' });
    this.configuration = configuration;
    const { stage, domain, retentionDays, throttle, requestsPerAddress, selfSignUp } = configuration;
    const logRetention = this.logRetention;

    this.records = new RecordTable(this, 'Records');
    new Backups(this, 'Backups', { table: this.records.table });
    this.images = new ImageBucket(this, 'Images', { retentionDays });
    this.accounts = new Accounts(this, 'Accounts', { selfSignUp });
    this.inference = new Inference(this, 'Inference', configuration);
    this.references = new ReferenceFetcher(this, 'References', { serviceName: this.stackName, logRetention });
    this.api = new HttpApi(this, 'Api', { stageName: stage, throttle, domain, logRetention });
    const { webAcl } = new Firewall(this, 'Firewall', {
      api: this.api.api,
      requestsPerAddress,
      logRetention,
    });

    const dashboard = this.addDashboard(dashboardFolder);
    const functions = this.addRoutes([dashboard.origin, ...configuration.allowedOrigins]);
    const { distribution } = dashboard;
    const monitoring = this.addMonitoring({
      functions,
      references: this.references.fn,
      sweep: this.addSweep(),
      billing: this.addBilling(),
      webAcl,
      distribution,
    });
    this.addOutputs(dashboard, monitoring);
  }

  private addDashboard(
    distFolder = fileURLToPath(new URL('../dashboard/dist', import.meta.url)),
  ): DashboardSite {
    const { domain } = this.configuration;
    const { accounts, api, images } = this;
    const dashboard = new DashboardSite(this, 'Dashboard', {
      distFolder,
      connectSources: [api.origin, accounts.domainUrl, images.origin],
      imageSources: [images.origin],
      domain,
    });
    accounts.addDashboardClient([dashboard.origin]);
    const { issuer, clientId, domainUrl } = accounts;
    dashboard.deploy({ apiBaseUrl: api.baseUrl, signIn: { issuer, clientId, domainUrl } });
    return dashboard;
  }

  private addRoutes(origins: string[]): RouteFunction[] {
    const { generationDeadlineSeconds } = this.configuration;
    const generationTimeout = Duration.seconds(generationDeadlineSeconds + generationMarginSeconds);
    return Object.values(routes).map((route: Route) => {
      const timeout = route.streams ? generationTimeout : bufferedTimeout;
      const fn = this.addFunction(route.functionName, grantsOf(route), timeout);
      fn.setVariable(environmentVariables.allowedOrigins, origins.join(','));
      if (route.auth === 'session' || route.auth === 'key_or_session') this.accounts.grantSessions(fn);
      if (route.streams) this.setGenerationLimits(fn);
      this.api.mount(route, fn, route.streams ? generationTimeout : Duration.seconds(29), origins);
      return { route, fn };
    });
  }

  private setGenerationLimits(fn: ServiceFunction): void {
    const { generationDeadlineSeconds, retentionDays } = this.configuration;
    fn.setVariable(environmentVariables.generationDeadlineSeconds, String(generationDeadlineSeconds));
    fn.setVariable(environmentVariables.retentionDays, String(retentionDays));
  }

  private addSweep(): SweepSource {
    const { functionName, grants, trigger } = jobs.sweep;
    const fn = this.addFunction(functionName, grants, jobTimeout);
    const { everyMinutes } = trigger;
    return { fn, everyMinutes, schedule: new SweepSchedule(this, 'SweepSchedule', { fn, everyMinutes }) };
  }

  private addBilling(): BillingSource | null {
    const { billing } = this.configuration;
    if (billing === null) return null;
    const { functionName, grants }: Job = jobs.billingEvents;
    const files = { [pricesFile]: JSON.stringify(billing.prices) };
    const fn = this.addFunction(functionName, grants, jobTimeout, files);
    fn.setVariable(environmentVariables.billingPricesFile, `/var/task/${pricesFile}`);
    const { eventBusName } = billing;
    const { queue, deadLetterQueue } = new BillingQueue(this, 'BillingQueue', { eventBusName, fn });
    return { fn, queue, deadLetterQueue };
  }

  private addMonitoring(
    sources: Pick<
      MonitoringProps,
      'functions' | 'references' | 'sweep' | 'billing' | 'webAcl' | 'distribution'
    >,
  ): Monitoring {
    const { alarmEmail, generationDeadlineSeconds, throttle, inference } = this.configuration;
    const { endpointName, variantName } = this.inference;
    const scales = inference.kind === 'endpoint' && inference.minInstances < inference.maxInstances;
    return new Monitoring(this, 'Monitoring', {
      ...sources,
      serviceName: this.stackName,
      alarmEmail,
      generationDeadlineSeconds,
      throttle,
      api: this.api.api,
      accessLog: this.api.accessLog as ILogGroup,
      table: this.records.table,
      model: { endpointName, variantName, maxInstances: scales ? inference.maxInstances : null },
    });
  }

  /** A function with exactly these grants. */
  private addFunction(
    functionName: string,
    grants: Grants,
    timeout: Duration,
    files: Record<string, string> = {},
  ): ServiceFunction {
    const fn = new ServiceFunction(this, pascalCase(functionName), {
      functionName,
      serviceName: this.stackName,
      timeout,
      logRetention: this.logRetention,
      files,
    });
    this.records.grant(fn, grants.table ?? {});
    this.images.grant(fn, grants);
    if (grants.model) this.inference.grantInvoke(fn);
    if (grants.references) this.references.grantInvoke(fn);
    return fn;
  }

  private get logRetention(): RetentionDays {
    return this.configuration.logRetentionDays as RetentionDays;
  }

  /** The operator's tools read these outputs by name. */
  private addOutputs(dashboard: DashboardSite, monitoring: Monitoring): void {
    const outputs = {
      BaseUrl: this.api.baseUrl,
      DashboardUrl: `${dashboard.origin}/`,
      TableName: this.records.table.tableName,
      BucketName: this.images.bucket.bucketName,
      UserPoolId: this.accounts.userPool.userPoolId,
      SignInUrl: this.accounts.domainUrl,
      ModelEndpointName: this.inference.endpointName,
      AlarmTopicArn: monitoring.topic.topicArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}
