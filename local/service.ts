import { createWriteStream, openSync, rmSync, type WriteStream } from 'node:fs';
import type { RequestListener } from 'node:http';
import { setLogSink } from '../shared/http/log.ts';
import { basePath } from '../shared/routes.ts';
import {
  corruptFolder,
  dataFolder,
  isUnfinished,
  openDataFolder,
  writeJson,
  type DataFolder,
  type DemoFile,
} from './data-folder.ts';
import { emptyUnusedFolder, modelEndpointName, startEngines, type Engines } from './engines.ts';
import { setFunctionEnvironment } from './environment.ts';
import { importRoutes } from './gateway/functions.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { installLambdaGlobal } from './gateway/lambda-host.ts';
import { openPort, type Port } from './port.ts';
import { startSweeping } from './sweeping.ts';
import { openWorld } from './world.ts';

export interface LocalServiceOptions {
  /** 0 takes any free one. */
  port: number;
  dataDir: string;
  /** Empties the data folder first. */
  fresh: boolean;
  deadlineSeconds: number;
  /** Told of each API request once it is answered. */
  onRequest?: (line: RequestLine) => void;
}

export interface RequestLine {
  method: string;
  path: string;
  status: number;
  durationMs: number;
}

/** `DIR/ready.json`: for scripts that wait for the service. */
export interface ReadyFile extends DemoFile {
  baseUrl: string;
}

export interface LocalService {
  ready: ReadyFile;
  /** Whether this start made the demo world. */
  firstStart: boolean;
  /** Stops accepting, lets running functions end for a while, and closes the engines. */
  close(): Promise<void>;
}

/** A function may outlast its generation's deadline by what settling or releasing takes. */
const functionMarginMs = 30_000;
const closeWithinMs = 10_000;

/** Brings up the whole service on one port. @throws StartError with one sentence for whoever started it. */
export async function startLocalService(options: LocalServiceOptions): Promise<LocalService> {
  const folder = dataFolder(options.dataDir);
  const port = await openPort(options.port);
  try {
    openDataFolder(folder);
    if (options.fresh || isUnfinished(folder)) await emptyUnusedFolder(folder);
    const engines = await startEngines(folder, port.url);
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

async function serve(
  port: Port,
  folder: DataFolder,
  engines: Engines,
  options: LocalServiceOptions,
): Promise<LocalService> {
  removeReadyFiles(folder);
  const { settings, sageMakerRuntimeUrl } = engines;
  const { deadlineSeconds } = options;
  setFunctionEnvironment({ ...settings, sageMakerRuntimeUrl, modelEndpointName, deadlineSeconds });
  const log = openLog(folder);
  setLogSink((line) => log.write(`${line}\n`));
  installLambdaGlobal();
  const [world, mounted] = await Promise.all([openWorld(folder, settings.tableName), importRoutes()]);
  const gateway = createGateway({ mounted, functionTimeoutMs: deadlineSeconds * 1000 + functionMarginMs });
  // The first to read the table: what the database could not open is missed here.
  const sweeping = await startSweeping(settings.tableName).catch((error: unknown) => {
    throw corruptFolder(folder, "its table can't be read", error);
  });
  port.serve(dispatcher(gateway, engines, options.onRequest));
  const ready: ReadyFile = { baseUrl: `${port.url}${basePath}`, ...world.demo };
  writeJson(folder.engines, settings);
  writeJson(folder.ready, ready);
  return {
    ready,
    firstStart: world.firstStart,
    async close() {
      removeReadyFiles(folder);
      // The port stays open: what runs still has images to store and answers to give.
      gateway.drain();
      await Promise.race([Promise.all([gateway.idle(), sweeping.stop()]), pause(closeWithinMs)]);
      await port.close();
      await engines.close();
      await new Promise<void>((closed) => log.end(closed));
    },
  };
}

function openLog(folder: DataFolder): WriteStream {
  try {
    return createWriteStream(folder.log, { fd: openSync(folder.log, 'a', 0o600) });
  } catch (cause) {
    throw corruptFolder(folder, "service.log can't be written", cause);
  }
}

/** The API below its base path, the bucket below its name. */
function dispatcher(
  gateway: Gateway,
  { objects, settings }: Engines,
  onRequest: LocalServiceOptions['onRequest'],
): RequestListener {
  const below = (url: string, prefix: string) =>
    url.startsWith(prefix) && /^($|[/?])/.test(url.slice(prefix.length));
  return (req, res) => {
    const url = req.url ?? '';
    // A connection that broke has nobody left to be answered.
    const ignore = () => void res.destroy();
    if (below(url, `/${settings.bucketName}`)) {
      objects.handle(req, res).catch(ignore);
      return;
    }
    const startedMs = performance.now();
    // Somebody will put a key there one day, and terminals are kept and shared.
    const path = url.split('?')[0]!.replace(/svc_live_\w+/g, 'svc_live_…');
    res.once('close', () => {
      const durationMs = Math.round(performance.now() - startedMs);
      onRequest?.({ method: req.method ?? '', path, status: res.statusCode, durationMs });
    });
    gateway.handle(req, res).catch(ignore);
  };
}

function removeReadyFiles({ ready, engines }: DataFolder): void {
  for (const path of [ready, engines]) rmSync(path, { force: true });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
