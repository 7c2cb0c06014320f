import { fileURLToPath } from 'node:url';
import { CfnOutput, Duration, Stack, Tags, type App } from 'aws-cdk-lib/core';
import type { ILogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { environmentVariables } from '../shared/base/config.ts';
import { packsIn, planCard } from '../shared/billing/plans.ts';
import { grantsOf, routes } from '../shared/routes/routes.ts';
import { jobs, type Job } from '../shared/routes/jobs.ts';
import { maxWaitSeconds } from '../shared/routes/limits.ts';
import type { Grants, TableGrants } from '../shared/routes/grants.ts';
import type { Route } from '../shared/routes/route.ts';
import { dataTag, modelStackNameOf, stackNameOf, type Configuration } from './configuration.ts';
import { Accounts } from './constructs/accounts.ts';
import { Backups } from './constructs/backups.ts';
import { BillingQueue } from './constructs/billing-queue.ts';
import { CanaryDeployments } from './constructs/canary-deployments.ts';
import { CreditMails } from './constructs/credit-mails.ts';
import { DashboardSite } from './constructs/dashboard-site.ts';
import { Firewall } from './constructs/firewall.ts';
import { watchFunctions } from './constructs/functions-watch.ts';
import { GenerationWorker } from './constructs/generation-worker.ts';
import { HttpApi } from './constructs/http-api.ts';
import { ImageBucket } from './constructs/image-bucket.ts';
import { ModelAccess } from './constructs/model-access.ts';
import { Monitoring } from './constructs/monitoring/monitoring.ts';
import type { Watched } from './constructs/monitoring/watched.ts';
import { PreviewRole } from './constructs/preview-role.ts';
import { PromptCheck } from './constructs/prompt-check.ts';
import { RecordTable } from './constructs/record-table.ts';
import { ReferenceFetcher } from './constructs/reference-fetcher.ts';
import { watchRefusals } from './constructs/refusals-watch.ts';
import { pascalCase, ServiceFunction } from './constructs/service-function.ts';
import { SessionEnds } from './constructs/session-ends.ts';
import { Sweep } from './constructs/sweep.ts';
import type { ModelStack } from './model-stack.ts';
import { canReserve } from './reserved-concurrency.ts';
import { throttleOf } from './throttle.ts';

type FunctionRow = Pick<Job, 'functionName' | 'grants' | 'reservedConcurrency'> & Pick<Route, 'memoryMb'>;

export interface ServiceStackProps {
  readonly configuration: Configuration;
  /** The model's own stack; null without one. */
  readonly model: ModelStack | null;
  /** The built dashboard. @default `dashboard/dist` */
  readonly dashboardFolder?: string;
  /** How many functions the account runs at once, all together. @default unknown: nothing is reserved, and the API takes little */
  readonly accountConcurrency?: number;
  /** The verified identity of SES that sends to everybody. @default unknown: sign-up codes come from Cognito's own sender */
  readonly mailIdentity?: string | undefined;
  /** What the option `monthlyBudgetUsd` means by "usual". @default null: no budget */
  readonly usualBudgetUsd?: number | null;
  /** How many of those the functions of other stacks have reserved. @default 0 */
  readonly reservedByOthers?: number;
}

/** A generation's function may run this much longer than a generation or a caller's wait, to store the outcome. */
const generationMarginSeconds = 30;
const bufferedTimeout = Duration.seconds(20);
const jobTimeout = Duration.seconds(60);

const pricesFile = 'billing-prices.json';

/** The whole service but for the model. */
export class ServiceStack extends Stack {
  private readonly configuration: Configuration;
  private readonly records: RecordTable;
  private readonly images: ImageBucket;
  private readonly previews: PreviewRole;
  private readonly model: ModelAccess;
  private readonly references: ReferenceFetcher;
  private readonly promptCheck: PromptCheck;
  private worker?: GenerationWorker;
  private readonly accounts: Accounts;
  private readonly reservableConcurrency: number;
  private readonly monthlyBudgetUsd: number | null;
  private readonly api: HttpApi;

  constructor(
    app: App,
    { configuration, model, accountConcurrency = 0, usualBudgetUsd = null, ...more }: ServiceStackProps,
  ) {
    super(app, stackNameOf(configuration), {
      description: 'Image Generation Service',
      terminationProtection: true,
    });
    this.configuration = configuration;
    this.reservableConcurrency = accountConcurrency - (more.reservedByOthers ?? 0);
    const { monthlyBudgetUsd: budget } = configuration;
    this.monthlyBudgetUsd = budget === 'usual' ? usualBudgetUsd : budget;
    const { logRetention } = this;

    this.records = new RecordTable(this, 'Records');
    new Backups(this, 'Backups', { table: this.records.table });
    this.images = new ImageBucket(this, 'Images', configuration);
    this.previews = new PreviewRole(this, 'Previews', { images: this.images.bucket });
    this.accounts = new Accounts(this, 'Accounts', { ...configuration, mailIdentity: more.mailIdentity });
    for (const store of [this.records.table, this.images.bucket, this.accounts.userPool])
      Tags.of(store).add(dataTag, this.stackName);
    this.model = new ModelAccess(this, { inference: configuration.inference, model });
    this.references = new ReferenceFetcher(this, 'References', { ...configuration, logRetention });
    this.promptCheck = new PromptCheck(this, 'PromptCheck', configuration.moderation);
    const throttle = throttleOf(configuration.throttle, accountConcurrency);
    this.api = new HttpApi(this, 'Api', { ...configuration, throttle, logRetention });
    const { api } = this.api;
    const firewall = new Firewall(this, 'Firewall', { ...configuration, api, logRetention });

    this.worker = this.addWorker();
    const dashboard = this.addDashboard(more.dashboardFolder);
    this.addRoutes([dashboard.origin, ...configuration.allowedOrigins]);
    const sweep = this.addSweep(dashboard);
    const mails = this.addCreditMails(dashboard.origin);
    const fn = this.addFunction(jobs.endSessions, jobTimeout);
    const sessionEnds = new SessionEnds(this, 'SessionEnds', { userPool: this.accounts.userPool, fn });
    const monitoring = this.addMonitoring([
      sweep,
      this.records,
      ...this.addBilling(),
      ...mails,
      this.promptCheck,
      watchRefusals(this, configuration),
      sessionEnds,
      this.references,
      this.model,
      dashboard,
      firewall,
      this.images,
    ]);
    this.addOutputs(dashboard, monitoring);
  }

  private addDashboard(
    distFolder = fileURLToPath(new URL('../dashboard/dist', import.meta.url)),
  ): DashboardSite {
    const { domain, retentionDays, mfa, mail, billingPortalUrl, supportContact, plans } = this.configuration;
    const { accounts, api, images } = this;
    const dashboard = new DashboardSite(this, 'Dashboard', {
      distFolder,
      connectSources: [api.origin, accounts.domainUrl, accounts.userPoolsUrl, images.origin],
      imageSources: [images.origin],
      domain,
    });
    accounts.addDashboardClient(dashboard.origin, this.configuration.allowedCallbacks);
    const { issuer, clientId, domainUrl, userPoolsUrl } = accounts;
    dashboard.deploy({
      apiBaseUrl: api.baseUrl,
      signIn: { issuer, clientId, domainUrl, userPoolsUrl: `${userPoolsUrl}/` },
      mfa,
      retentionDays,
      creditMails: mail !== null,
      billingPortalUrl,
      supportContact,
      plans: plans.map(planCard),
    });
    return dashboard;
  }

  private addRoutes(origins: string[]): void {
    const { generationDeadlineSeconds, modelNames, supportContact } = this.configuration;
    const generationTimeout = Duration.seconds(
      Math.max(generationDeadlineSeconds, maxWaitSeconds) + generationMarginSeconds,
    );
    for (const route of Object.values(routes) as Route[]) {
      const timeout = route.streams ? generationTimeout : bufferedTimeout;
      const fn = this.addFunction({ ...route, grants: grantsOf(route) }, timeout);
      fn.setVariable(environmentVariables.allowedOrigins, origins.join(','));
      if (route.auth === 'session' || route.auth === 'key_or_session') this.accounts.grantSessions(fn);
      if (route.streams) this.setGenerationLimits(fn);
      if (route.apiFormat === 'openai')
        fn.setVariable(environmentVariables.modelNames, JSON.stringify(modelNames));
      if (route === routes.getOpenApi)
        fn.setVariable(environmentVariables.supportContact, supportContact ?? '');
      this.api.mount(route, fn, route.streams ? generationTimeout : Duration.seconds(29), origins);
    }
  }

  private setGenerationLimits(fn: ServiceFunction): void {
    const options = [
      'generationDeadlineSeconds',
      'asyncDeadlineSeconds',
      'retentionDays',
      'embedParameters',
    ] as const;
    for (const name of options) fn.setVariable(environmentVariables[name], String(this.configuration[name]));
  }

  private addWorker(): GenerationWorker {
    const { asyncDeadlineSeconds, embedParameters } = this.configuration;
    const timeout = Duration.seconds(asyncDeadlineSeconds + generationMarginSeconds);
    const run = this.addFunction(jobs.runGeneration, timeout);
    run.setVariable(environmentVariables.embedParameters, String(embedParameters));
    const release = this.addFunction(jobs.releaseGeneration, jobTimeout);
    const { api, model, reservableConcurrency: accountConcurrency, configuration } = this;
    const props = { run, release, api, model, accountConcurrency, ...configuration };
    return new GenerationWorker(this, 'Worker', props);
  }

  private addSweep({ distribution: slowest, origin }: DashboardSite): Sweep {
    const fn = this.addFunction(jobs.sweep, jobTimeout);
    fn.setVariable(environmentVariables.dashboardUrl, `${origin}/`);
    return new Sweep(this, 'SweepSchedule', { fn, slowest });
  }

  /** Without an address to send from there are no e-mails. What waits to be sent is removed by its time to live. */
  private addCreditMails(dashboardOrigin: string): CreditMails[] {
    const { mail } = this.configuration;
    if (mail === null) return [];
    const fn = this.addFunction(jobs.sendNotices, jobTimeout);
    this.accounts.grantDirectory(fn);
    return [new CreditMails(this, 'NoticeSchedule', { ...this.configuration, fn, mail, dashboardOrigin })];
  }

  private addBilling(): BillingQueue[] {
    const { billing } = this.configuration;
    if (billing === null) return [];
    const files = { [pricesFile]: JSON.stringify(billing.prices) };
    const fn = this.addFunction(jobs.billingEvents, jobTimeout, files);
    fn.setVariable(environmentVariables.billingPricesFile, `/var/task/${pricesFile}`);
    fn.setVariable(environmentVariables.billingPacks, JSON.stringify(packsIn(this.configuration.plans)));
    fn.setVariable(environmentVariables.billingLivemode, String(billing.livemode));
    fn.setVariable(environmentVariables.pastDueGraceDays, String(billing.pastDueGraceDays));
    fn.setVariable(environmentVariables.extraCreditsMonths, String(billing.extraCreditsMonths));
    return [new BillingQueue(this, 'BillingQueue', { ...billing, fn })];
  }

  /** After all functions. @param others what is watched beside the functions and what calls them */
  private addMonitoring(others: readonly Watched[]): Monitoring {
    const { api, configuration, monthlyBudgetUsd } = this;
    const worker = this.worker!;
    const all = this.node.findAll().filter((construct) => construct instanceof ServiceFunction);
    const functions = watchFunctions({ all, api, worker });
    const monitoring = new Monitoring(this, 'Monitoring', {
      ...configuration,
      monthlyBudgetUsd,
      watched: [worker, api, functions, ...others],
      functionLogs: all.map((fn) => fn.logGroup),
      accessLog: api.accessLog as ILogGroup,
    });
    if (configuration.canary) new CanaryDeployments(this, 'Canary', monitoring.rollbackAlarms);
    return monitoring;
  }

  /** A function with exactly these grants. */
  private addFunction(
    { functionName, grants, reservedConcurrency, memoryMb }: FunctionRow,
    timeout: Duration,
    files: Record<string, string> = {},
  ): ServiceFunction {
    const fn = new ServiceFunction(this, pascalCase(functionName), {
      functionName,
      serviceName: this.stackName,
      timeout,
      logRetention: this.logRetention,
      ...(memoryMb !== undefined && { memoryMb }),
      ...(reservedConcurrency !== undefined &&
        canReserve(reservedConcurrency, this.reservableConcurrency) && { reservedConcurrency }),
      files,
      checksPrompts: this.promptCheck.isOn,
    });
    this.records.grant(fn, this.tableGrants(grants));
    this.images.grant(fn, grants);
    this.previews.grant(fn, grants);
    this.model.grant(fn, grants);
    if (grants.promptCheck) this.promptCheck.grant(fn);
    if (grants.references) this.references.fn.allowInvocationBy(fn, environmentVariables.referenceFetcherUrl);
    if (grants.queue) this.worker!.allowSending(fn);
    return fn;
  }

  /** No function reads or writes what is remembered of cold starts where the model never scales to zero. */
  private tableGrants({ table = {} }: Grants): TableGrants {
    const { model: _, ...others } = table;
    return this.model.componentName === null ? others : table;
  }

  private get logRetention(): RetentionDays {
    return this.configuration.logRetentionDays as RetentionDays;
  }

  /** The operator's tools read these outputs by name. */
  private addOutputs(dashboard: DashboardSite, monitoring: Monitoring): void {
    const { inference } = this.configuration;
    const outputs = {
      BaseUrl: this.api.baseUrl,
      DashboardUrl: `${dashboard.origin}/`,
      TableName: this.records.table.tableName,
      BucketName: this.images.bucket.bucketName,
      UserPoolId: this.accounts.userPool.userPoolId,
      SignInUrl: this.accounts.domainUrl,
      ModelData: inference.kind === 'endpoint' ? inference.modelData : '(none)',
      ModelEndpointName: modelStackNameOf(this.configuration) ?? this.model.endpointName,
      AlarmTopicArn: monitoring.topic.topicArn,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
