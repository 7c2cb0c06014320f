import { existsSync, readFileSync } from 'node:fs';
import { dataFolder } from '../../local/data-folder.ts';
import { pointSdkAt } from '../../local/environment.ts';
import type { ReadyFile } from '../../local/service.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { noModelEndpoint } from '../../shared/base/config.ts';
import { readEngines, stackOutputs } from '../common/connection.ts';
import { asFailure, noLocalService, type FailedPlace } from '../common/failure.ts';

/** The service that is checked, from its outputs. */
export interface SmokePlace extends FailedPlace {
  baseUrl: string;
  dashboardUrl: string;
  tableName: string;
  bucketName: string;
  hasModel: boolean;
  signIn: { issuer: string; domainUrl: string };
}

const outputNames = [
  ...(['BaseUrl', 'DashboardUrl', 'TableName', 'BucketName'] as const),
  ...(['UserPoolId', 'SignInUrl', 'ModelEndpointName'] as const),
];

/** A deployed stack, by its outputs. @throws Failure when there is none, or when it lacks an output */
export async function stackPlace(stackName: string, region: string | undefined): Promise<SmokePlace> {
  if (region !== undefined) process.env.AWS_REGION = region;
  const outputs = await stackOutputs(stackName, outputNames).catch((error: unknown) => {
    throw asFailure(error, null);
  });
  const { UserPoolId: poolId, SignInUrl: domainUrl, BaseUrl: baseUrl, DashboardUrl: dashboardUrl } = outputs;
  const { TableName: tableName, BucketName: bucketName, ModelEndpointName } = outputs;
  const issuer = `https://cognito-idp.${poolId.split('_')[0]}.amazonaws.com/${poolId}`;
  const place = { baseUrl, dashboardUrl, tableName, bucketName, signIn: { issuer, domainUrl } };
  const hasModel = ModelEndpointName !== noModelEndpoint;
  return { ...place, name: `the stack ${stackName}`, localFolder: null, hasModel };
}

/** The local service that runs on a data folder. @throws Failure when there is none */
export function localPlace(folder: string): SmokePlace {
  const engines = readEngines(folder);
  const { ready: readyPath } = dataFolder(folder);
  if (!existsSync(readyPath)) throw noLocalService(folder);
  const { baseUrl, dashboardUrl } = JSON.parse(readFileSync(readyPath, 'utf8')) as ReadyFile;
  pointSdkAt(engines);
  const { tableName, bucketName, s3Url: origin } = engines;
  const signIn = { issuer: sessionSettings(origin).issuer, domainUrl: origin };
  const name = `the local service on ${folder}`;
  return { name, localFolder: folder, baseUrl, dashboardUrl, tableName, bucketName, hasModel: true, signIn };
}
