import { createWriteStream, openSync, rmSync, type WriteStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { planCard } from '../shared/billing/plans.ts';
import { setLogSink } from '../shared/base/log.ts';
import { setStopSignal } from '../shared/http/runtime.ts';
import { llmsText } from '../shared/openapi/llms-text.ts';
import { basePath } from '../shared/routes/api.ts';
import {
  corruptFolder,
  dataFolder,
  isUnfinished,
  openDataFolder,
  writeJson,
  type DataFolder,
  type DemoFile,
  type EnginesFile,
} from './data-folder.ts';
import { startDemoSamples } from './demo-samples.ts';
import { emptyUnusedFolder, startEngines, type EngineOptions, type Engines } from './engines.ts';
import { retentionDays, setFunctionEnvironment } from './environment.ts';
import { openDashboard } from './dashboard/dashboard.ts';
import { userPoolsApiOf } from './cognito/user-pool.ts';
import { createFront, createStartingFront, type RequestLine } from './front.ts';
import { importRoutes } from './gateway/functions.ts';
import { createGateway } from './gateway/gateway.ts';
import { installLambdaGlobal } from './gateway/lambda-host.ts';
import { openPort, type Port } from './port.ts';
import { openDemo, type Demo } from './seed.ts';
import { samplePlans } from './sample-plans.ts';
import { requestShutdown, type ShutdownCounts } from './shutdown.ts';
import { openUserPool, sessionSettings } from './sign-in.ts';
import { startSweepSchedule } from './sweep-schedule.ts';

export interface LocalServiceOptions extends Omit<EngineOptions, 'onMail'> {
  /** 0 takes any free one. */
  port: number;
  dataDir: string;
  /** Empties the data folder first. */
  fresh: boolean;
  deadlineSeconds: number;
  /** Of asynchronous requests. */
  asyncDeadlineSeconds: number;
  /** How long requests that run may go on once the service stops. */
  graceSeconds: number;
  /** Whether the painter makes samples of the demo identities, once the service serves for the first time. */
  samples: boolean;
  accessTokenSeconds: number;
  /** Origins of web pages beside the dashboard's that may call the API and sign in. */
  allowedOrigins: string[];
  /** Addresses beside theirs that a sign-in and a sign-out may return to. */
  allowedCallbacks: string[];
  /** As in a deployment's configuration; null where none is named. */
  billingPortalUrl: string | null;
  supportContact: string | null;
  /** Where prompts are checked; null where they are not. */
  moderationUrl: string | null;
  /** Whether a prompt that could not be checked is accepted. */
  allowUnchecked: boolean;
  /** For how many days prompts are kept that it refuses; null: they are not. */
  keepRefusedDays: number | null;
  /** Called for each API request once it is answered. */
  onRequest?: (line: RequestLine) => void;
  /** Called with a sentence for events other than requests. */
  onNotice?: (sentence: string) => void;
}

/** `DIR/ready.json`: for scripts that wait for the service. */
export interface ReadyFile extends DemoFile {
  baseUrl: string;
  dashboardUrl: string;
  /** Who can sign in, by e-mail address. */
  accounts: Record<string, { password: string }>;
}

export interface LocalService {
  ready: ReadyFile;
  /** Whether this start made the demo data. */
  firstStart: boolean;
  /** Stops accepting, lets requests finish for a while, stops those that did not, and closes the engines. */
  close(): Promise<ShutdownCounts>;
}

/** A function may outlast its generation's deadline by what settling or releasing takes. */
const functionMarginMs = 30_000;
const dashboardFolder = fileURLToPath(new URL('../dashboard', import.meta.url));

/** Brings up the whole service on one port. @throws StartError with one sentence for whoever started it. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const folder = dataFolder(options.dataDir);
  const port = await openPort(options.port);
  try {
    openDataFolder(folder);
    if (options.fresh || isUnfinished(folder)) await emptyUnusedFolder(folder);
    const engines = await startEngines(folder, port.url, {
      ...options,
      onMail: noticeOfMail(options),
    });
    try {
      return await serve(port, folder, engines, options);
    } catch (error) {
      await engines.close();
      throw error;
    }
  } catch (error) {
    await port.close();
    throw error;
  }
}

const noticeOfMail =
  ({ onNotice = () => {} }: LocalServiceOptions) =>
  (path: string) =>
    onNotice(`An e-mail was written to ${path}.`);

async function serve(
  port: Port,
  folder: DataFolder,
  engines: Engines,
  options: LocalServiceOptions,
): Promise<LocalService> {
  removeReadyFiles(folder);
  const { settings, objects, queues } = engines;
  setFunctionEnvironment({
    ...settings,
    ...engines.variables,
    ...options,
    dashboardUrl: `${port.url}/`,
    session: sessionSettings(port.url),
  });
  const { log, requests } = openHost(folder);
  const { bucketName } = settings;
  const [demo, mounted] = await Promise.all([openDemo(folder, settings.tableName), importRoutes()]);
  const functionTimeoutMs = options.deadlineSeconds * 1000 + functionMarginMs;
  const gateway = createGateway({ mounted, functionTimeoutMs, allowedOrigins: options.allowedOrigins });
  port.serve(createStartingFront({ bucketName, objects }));
  // The first read of the table: a table that can't be read is found here.
  const schedule = await startSweepSchedule(settings).catch((error: unknown) => {
    throw corruptFolder(folder, "its table can't be read", error);
  });
  const pages = openPages(port, folder, demo, settings, options);
  const { onRequest } = options;
  port.serve(createFront({ url: port.url, gateway, bucketName, objects, ...pages, onRequest }));
  const ready = readyFile(port.url, demo);
  writeJson(folder.engines, settings);
  writeJson(folder.ready, ready);
  // Not awaited: the API serves at once, and a page that is asked for meanwhile says that it is being prepared.
  void pages.dashboard.prepare();
  const samples = openSamples(folder, engines, demo, options);
  return {
    ready,
    firstStart: demo.firstStart,
    async close() {
      removeReadyFiles(folder);
      pages.dashboard.close();
      await samples?.stop();
      // The port stays open: running requests still store images and send answers.
      const counts = await requests.shutDown({ gateway, queues, job: schedule.stop() }, options.graceSeconds);
      await port.close();
      await engines.close();
      await new Promise<void>((closed) => log.end(closed));
      return counts;
    },
  };
}

function openSamples(
  folder: DataFolder,
  { painterUrl, settings: { tableName, bucketName } }: Engines,
  { made: { identities } }: Demo,
  { samples, onNotice = () => {} }: LocalServiceOptions,
) {
  if (!samples || painterUrl === null) return null;
  return startDemoSamples(folder, { painterUrl, tableName, bucketName, identities }, onNotice);
}

/** Sets up what the functions find around them, apart from their environment. */
function openHost(folder: DataFolder) {
  const log = openLog(folder);
  const requests = requestShutdown();
  setLogSink((line) => {
    log.write(`${line}\n`);
    requests.read(line);
  });
  setStopSignal(requests.signal);
  installLambdaGlobal();
  return { log, requests };
}

function readyFile(origin: string, { made, signIn }: Demo): ReadyFile {
  return {
    baseUrl: `${origin}${basePath}`,
    dashboardUrl: `${origin}/`,
    accounts: Object.fromEntries(signIn.accounts.map(({ email, password }) => [email, { password }])),
    ...made,
  };
}

/** What is served beside the API: the sign-in, and the dashboard. */
function openPages(
  { url }: Port,
  { outbox }: DataFolder,
  { signIn }: Demo,
  { accessKeyId, secretAccessKey, region }: EnginesFile,
  options: LocalServiceOptions,
) {
  const { billingPortalUrl, supportContact, onNotice = () => {} } = options;
  const { issuer, clientId } = sessionSettings(url);
  const apiSigning = { credentials: { accessKeyId, secretAccessKey }, region };
  const config = {
    apiBaseUrl: `${url}${basePath}`,
    signIn: { issuer, clientId, domainUrl: url, userPoolsUrl: `${userPoolsApiOf(url)}/` },
    mfa: 'optional' as const,
    retentionDays,
    creditMails: true,
    billingPortalUrl,
    supportContact,
    plans: samplePlans.map(planCard),
  };
  return {
    userPool: openUserPool(url, signIn, { ...options, apiSigning, outbox, onMail: noticeOfMail(options) }),
    dashboard: openDashboard({
      folder: dashboardFolder,
      config,
      llmsText: llmsText({ apiBaseUrl: config.apiBaseUrl, siteUrl: url }),
      log: onNotice,
    }),
  };
}

function openLog(folder: DataFolder): WriteStream {
  try {
    return createWriteStream(folder.log, { fd: openSync(folder.log, 'a', 0o600) });
  } catch (cause) {
    throw corruptFolder(folder, "service.log can't be written", cause);
  }
}

function removeReadyFiles({ ready, engines }: DataFolder): void {
  for (const path of [ready, engines]) rmSync(path, { force: true });
}
