import { existsSync, readFileSync } from 'node:fs';
import { dataFolder } from '../../local/data-folder.ts';
import type { ReadyFile } from '../../local/service.ts';
import { sessionSettings } from '../../local/sign-in.ts';
import { noModelEndpoint } from '../../shared/base/config.ts';
import { localPlace, readEngines, stackOutputs, type PlaceFlags } from '../common/connection.ts';
import { asFailure, noLocalService, usageFailure, type FailedPlace } from '../common/failure.ts';

/** The service that is checked, from its outputs. */
export interface SmokePlace extends FailedPlace {
  baseUrl: string;
  dashboardUrl: string;
  tableName: string;
  bucketName: string;
  hasModel: boolean;
  signIn: { issuer: string; domainUrl: string };
}

/** @throws Failure when there is no such stack or local service, or a stack lacks an output */
export async function findSmokePlace({ stack, region, data = '.local' }: PlaceFlags): Promise<SmokePlace> {
  if (stack !== undefined) return stackPlace(stack, region);
  if (region === undefined) return localSmokePlace(data);
  throw usageFailure('--region means AWS: name the stack there too, with --stack.');
}

async function stackPlace(stack: string, region: string | undefined): Promise<SmokePlace> {
  if (region !== undefined) process.env.AWS_REGION = region;
  const names = ['BaseUrl', 'DashboardUrl', 'TableName', 'BucketName', 'UserPoolId', 'SignInUrl'] as const;
  const outputs = await stackOutputs(stack, [...names, 'ModelEndpointName']).catch((error: unknown) => {
    throw asFailure(error, null);
  });
  const { UserPoolId: poolId, SignInUrl: domainUrl, BaseUrl: baseUrl, DashboardUrl: dashboardUrl } = outputs;
  const { TableName: tableName, BucketName: bucketName, ModelEndpointName } = outputs;
  const issuer = `https://cognito-idp.${poolId.split('_')[0]}.amazonaws.com/${poolId}`;
  const place = { baseUrl, dashboardUrl, tableName, bucketName, signIn: { issuer, domainUrl } };
  const hasModel = ModelEndpointName !== noModelEndpoint;
  return { ...place, name: `the stack ${stack}`, localFolder: null, hasModel };
}

function localSmokePlace(folder: string): SmokePlace {
  const { s3Url: origin, bucketName } = readEngines(folder);
  const { ready } = dataFolder(folder);
  if (!existsSync(ready)) throw noLocalService(folder);
  const { baseUrl, dashboardUrl } = JSON.parse(readFileSync(ready, 'utf8')) as ReadyFile;
  const signIn = { issuer: sessionSettings(origin).issuer, domainUrl: origin };
  return { ...localPlace(folder), bucketName, baseUrl, dashboardUrl, hasModel: true, signIn };
}
