import { existsSync } from 'node:fs';
import { startPainter } from '../painter/src/server.ts';
import { jobs } from '../shared/routes/jobs.ts';
import { poolId, userPoolsApiOf } from './cognito/user-pool.ts';
import {
  corruptFolder,
  emptyDataFolder,
  isFolder,
  readServiceFile,
  type DataFolder,
  type EnginesFile,
} from './data-folder.ts';
import { startDynamoDb } from './dynamodb/engine.ts';
import { moderationSecret, type EngineVariables } from './environment.ts';
import { importJob } from './gateway/functions.ts';
import { invocationPath, startLambda } from './lambda/engine.ts';
import { createObjectStore, type ObjectStore } from './s3/server.ts';
import { startSageMakerRuntime } from './sagemaker/engine.ts';
import { scaleToZero } from './sagemaker/scale-to-zero.ts';
import { startSecrets } from './secrets/engine.ts';
import { startSes } from './ses/engine.ts';
import { startSqs, type Handling } from './sqs/engine.ts';
import { StartError } from './start-error.ts';

export interface Engines {
  settings: EnginesFile;
  variables: EngineVariables;
  /** The requests that nobody waits for. */
  queues: Handling;
  /** Where the painter is; null where another model container generates. */
  painterUrl: string | null;
  /** Serves the bucket on the service's own port, so that links outlive a restart. */
  objects: ObjectStore;
  close(): Promise<void>;
}

export interface EngineOptions {
  /** The model container to use in the painter's place. */
  containerUrl: string | null;
  /** When the model is scaled to zero; null where it never is. */
  coldStarts: { idleSeconds: number; coldStartSeconds: number } | null;
  onMail?: (path: string) => void;
}

const modelEndpointName = 'painter';
const modelComponentName = 'painter-component';
const region = 'us-east-1';
const tableName = 'image-generation';
const bucketName = 'image-generation';
const fetchReferences = jobs.fetchReferences.functionName;

type Closable = { close(): Promise<void> };

/**
 * Starts every engine on its folder; the bucket and the user pool are served at the service's own address.
 * @throws StartError when the folder is in use or corrupt.
 */
export async function startEngines(
  folder: DataFolder,
  serviceUrl: string,
  { containerUrl, coldStarts, onMail }: EngineOptions,
): Promise<Engines> {
  const { accessKeyId, secretAccessKey } = readServiceFile(folder);
  const misplaced = [folder.table, folder.objects].find((path) => existsSync(path) && !isFolder(path));
  if (misplaced !== undefined) throw corruptFolder(folder, `${misplaced} is not a folder`);
  const signing = { credentials: { accessKeyId, secretAccessKey }, region };
  const { keep, close } = closingTogether();
  const starting = [
    openTableFolder(folder).then(keep),
    // A container that somebody else runs is not stopped here.
    containerUrl === null ? startPainter().then(keep) : { url: containerUrl },
    createObjectStore({ folder: folder.objects, bucketName, ...signing }),
    startLambda({ functions: { [fetchReferences]: importJob(fetchReferences) }, ...signing }).then(keep),
    startSqs({ queues: generationQueues(), ...signing }).then(keep),
    startSecrets({ secrets: { [moderationSecret.arn]: moderationSecret.text }, ...signing }).then(keep),
    startSes({ folder: folder.outbox, ...signing, ...(onMail && { onMail }) }).then(keep),
  ] as const;
  try {
    const [dynamoDb, container, objects, lambda, sqs, secrets, ses] = await Promise.all(starting);
    const runtime = keep(
      await startSageMakerRuntime({
        endpoints: { [modelEndpointName]: container.url },
        ...(coldStarts !== null && { component: componentOf(coldStarts, signing) }),
      }),
    );
    return {
      settings: { ...settingsAt(serviceUrl), dynamoDbUrl: dynamoDb.url, ...signing.credentials },
      variables: {
        modelEndpointName,
        ...(coldStarts !== null && { modelComponentName }),
        sageMakerRuntimeUrl: runtime.url,
        referenceFetcherUrl: lambda.url + invocationPath(fetchReferences),
        generationQueueUrl: sqs.urlOf(generationQueue),
        sesUrl: ses.url,
        secretsManagerUrl: secrets.url,
      },
      queues: sqs,
      painterUrl: containerUrl === null ? container.url : null,
      objects,
      close,
    };
  } catch (error) {
    await Promise.allSettled(starting);
    await close();
    throw error;
  }
}

function closingTogether() {
  const started: Closable[] = [];
  const keep = <T extends Closable>(engine: T): T => {
    started.push(engine);
    return engine;
  };
  return { keep, close: async () => void (await Promise.all(started.map((engine) => engine.close()))) };
}

function settingsAt(serviceUrl: string) {
  const cognitoUrl = userPoolsApiOf(serviceUrl);
  return { region, tableName, bucketName, s3Url: serviceUrl, cognitoUrl, userPoolId: poolId };
}

type Signing = Omit<Parameters<typeof startLambda>[0], 'functions'>;

const generationQueue = 'generations';
const deadLetters = 'generations-dead-letters';

/** As in a deployment: a message is hidden for longer than a run takes. */
function generationQueues() {
  const { runGeneration, releaseGeneration } = jobs;
  const visibilityMs = 15 * 60_000;
  return {
    [generationQueue]: {
      run: importJob(runGeneration.functionName),
      maxConcurrency: 100,
      visibilityMs,
      deadLetters: { queue: deadLetters, maxReceiveCount: 1000 },
    },
    [deadLetters]: { run: importJob(releaseGeneration.functionName), maxConcurrency: 2, visibilityMs },
  };
}

function componentOf(coldStarts: NonNullable<EngineOptions['coldStarts']>, signing: Signing) {
  const { idleSeconds, coldStartSeconds } = coldStarts;
  const scaling = scaleToZero({ idleMs: idleSeconds * 1000, coldStartMs: coldStartSeconds * 1000 });
  return { name: modelComponentName, endpointName: modelEndpointName, scaling, signing };
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
  return startDynamoDb({ folder: folder.table }).catch((error: unknown) => {
    const reason = reasonOf(error);
    if (reason === 'corrupt') throw corruptFolder(folder, "its table can't be read", error);
    if (reason !== 'in_use') throw error;
    throw new StartError(
      `The data folder ${folder.path} is in use by a service that is running: stop it, or name another with --data.`,
      { cause: error },
    );
  });
}

function reasonOf(error: unknown): unknown {
  return error instanceof Error && 'reason' in error ? error.reason : undefined;
}
