import { existsSync } from 'node:fs';
import { poolId, userPoolsApiOf } from './cognito/user-pool.ts';
import type { EnginesFile, DataFolder } from './data-folder.ts';
import type { EngineVariables } from './environment.ts';
import { corruptFolder, emptyDataFolder, isFolder, readServiceFile } from './data-folder.ts';
import { startDynamoDb } from './dynamodb/engine.ts';
import { importJob } from './gateway/functions.ts';
import type { EventQueue } from './lambda/event-queue.ts';
import { invocationPath, startLambda } from './lambda/engine.ts';
import { startPainter } from '../painter/src/server.ts';
import { jobs } from '../shared/routes/jobs.ts';
import { createObjectStore, type ObjectStore } from './s3/server.ts';
import type { Component } from './sagemaker/control-plane.ts';
import { startSes } from './ses/engine.ts';
import { startSageMakerRuntime } from './sagemaker/engine.ts';
import { sleeper } from './sagemaker/sleeper.ts';
import { StartError } from './start-error.ts';

export interface Engines {
  settings: EnginesFile;
  variables: EngineVariables;
  /** How many functions run that nobody waits for, and when none does. */
  events: Pick<EventQueue, 'running' | 'idle'>;
  /** Where the painter is; null where another model container paints. */
  painterUrl: string | null;
  /** Serves the bucket on the service's own port, so that links outlive a restart. */
  objects: ObjectStore;
  close(): Promise<void>;
}

/** How the model sleeps. */
export interface Sleep {
  sleepSeconds: number;
  wakeSeconds: number;
}

const modelEndpointName = 'painter';
const modelComponentName = 'painter-component';
const region = 'us-east-1';
const tableName = 'image-generation';
const bucketName = 'image-generation';
const fetchReferences = jobs.fetchReferences.functionName;
const runGeneration = jobs.runGeneration.functionName;
const releaseGeneration = jobs.releaseGeneration.functionName;
/** The functions that other functions invoke. */
const invoked = [fetchReferences, runGeneration, releaseGeneration];

type Closable = { close(): Promise<void> };

/**
 * Starts every engine on its folder; the bucket and the user pool are served at the service's own address. Without another model container, the painter is the model.
 * @param model.sleep null where it never sleeps.
 * @throws StartError when the folder is in use or corrupt.
 */
export async function startEngines(
  folder: DataFolder,
  serviceUrl: string,
  { onMail, ...model }: { containerUrl: string | null; sleep: Sleep | null; onMail?: (path: string) => void },
): Promise<Engines> {
  const { accessKeyId, secretAccessKey } = readServiceFile(folder);
  const misplaced = [folder.table, folder.objects].find((path) => existsSync(path) && !isFolder(path));
  if (misplaced !== undefined) throw corruptFolder(folder, `${misplaced} is not a folder`);
  const credentials = { accessKeyId, secretAccessKey };
  const started: Closable[] = [];
  const keep = <T extends Closable>(engine: T): T => {
    started.push(engine);
    return engine;
  };
  const close = async () => {
    await Promise.all(started.map((engine) => engine.close()));
  };
  const starting = [
    openTableFolder(folder).then(keep),
    openModel(model, { credentials, region }, keep),
    createObjectStore({ folder: folder.objects, bucketName, credentials, region }),
    startFunctions(credentials).then(keep),
    startSes({ folder: folder.outbox, credentials, region, ...(onMail && { onMail }) }).then(keep),
  ] as const;
  try {
    const [dynamoDb, runtime, objects, lambda, ses] = await Promise.all(starting);
    return {
      settings: { ...settingsAt(serviceUrl), dynamoDbUrl: dynamoDb.url, ...credentials },
      variables: {
        modelEndpointName,
        ...(model.sleep !== null && { modelComponentName }),
        sageMakerRuntimeUrl: runtime.url,
        referenceFetcherUrl: lambda.url + invocationPath(fetchReferences),
        generationWorkerUrl: lambda.url + invocationPath(runGeneration),
        sesUrl: ses.url,
      },
      events: lambda,
      painterUrl: runtime.painterUrl,
      objects,
      close,
    };
  } catch (error) {
    await Promise.allSettled(starting);
    await close();
    throw error;
  }
}

function startFunctions(credentials: { accessKeyId: string; secretAccessKey: string }) {
  return startLambda({
    functions: Object.fromEntries(invoked.map((name) => [name, importJob(name)])),
    onFailure: { [runGeneration]: releaseGeneration },
    credentials,
    region,
  });
}

/** The model container and what stands in front of it. A container that somebody else runs is not stopped here. */
async function openModel(
  { containerUrl, sleep }: { containerUrl: string | null; sleep: Sleep | null },
  signing: Component['signing'],
  keep: <T extends Closable>(engine: T) => T,
): Promise<{ url: string; painterUrl: string | null }> {
  const painterUrl = containerUrl === null ? keep(await startPainter()).url : null;
  const endpoints = { [modelEndpointName]: painterUrl ?? containerUrl! };
  const component = sleepingComponent(sleep, signing);
  const { url } = keep(await startSageMakerRuntime({ endpoints, ...component }));
  return { url, painterUrl };
}

function settingsAt(
  serviceUrl: string,
): Omit<EnginesFile, 'dynamoDbUrl' | 'accessKeyId' | 'secretAccessKey'> {
  const cognitoUrl = userPoolsApiOf(serviceUrl);
  return { region, tableName, bucketName, s3Url: serviceUrl, cognitoUrl, userPoolId: poolId };
}

function sleepingComponent(sleep: Sleep | null, signing: Component['signing']): { component?: Component } {
  if (sleep === null) return {};
  const times = { sleepMs: sleep.sleepSeconds * 1000, wakeMs: sleep.wakeSeconds * 1000 };
  const of = { name: modelComponentName, endpointName: modelEndpointName };
  return { component: { ...of, sleeper: sleeper(times), signing } };
}

/** Empties a folder that no running service has. @throws StartError when one has it. */
export async function emptyUnusedFolder(folder: DataFolder): Promise<void> {
  try {
    if (isFolder(folder.table)) await (await openTableFolder(folder)).close();
  } catch (error) {
    if (!(error instanceof StartError) || reasonOf(error.cause) !== 'corrupt') throw error;
  }
  emptyDataFolder(folder);
}

async function openTableFolder(folder: DataFolder): Promise<{ url: string } & Closable> {
  try {
    return await startDynamoDb({ folder: folder.table });
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === 'in_use') {
      throw new StartError(
        `The data folder ${folder.path} is in use by a service that is running: stop it, or name another with --data.`,
        { cause: error },
      );
    }
    if (reason === 'corrupt') {
      throw corruptFolder(folder, "its table can't be read", error);
    }
    throw error;
  }
}

function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'reason' in error ? error.reason : undefined;
}
