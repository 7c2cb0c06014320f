import { createServer } from 'node:http';
import { setFunctionEnvironment } from '../../local/environment.ts';
import { importRoutes } from '../../local/gateway/functions.ts';
import { createGateway } from '../../local/gateway/gateway.ts';
import { installLambdaGlobal } from '../../local/gateway/lambda-host.ts';
import { listen } from '../../local/http/server.ts';
import { basePath } from '../../shared/routes/api.ts';

/*
 * A process with every route and no engine behind it: the first line that it prints is where it listens, the others are
 * its log. jest could not host it: errors of Node.js are of another realm there, and the SDK does not know them.
 */
const [dynamoDbUrl = '', jwksUrl = '', issuer = '', clientId = ''] = process.argv.slice(2);
const nobody = 'http://127.0.0.1:9';

setFunctionEnvironment({
  region: 'us-east-1',
  tableName: 'table',
  bucketName: 'bucket',
  modelEndpointName: 'model',
  accessKeyId: 'AKIDTEST',
  secretAccessKey: 'secret',
  dynamoDbUrl,
  s3Url: nobody,
  cognitoUrl: nobody,
  sesUrl: nobody,
  dashboardUrl: 'https://dashboard.test/',
  userPoolId: 'us-east-1_test',
  sageMakerRuntimeUrl: nobody,
  referenceFetcherUrl: nobody,
  generationWorkerUrl: nobody,
  deadlineSeconds: 1,
  asyncDeadlineSeconds: 1,
  allowedOrigins: [],
  session: { issuer, clientId, jwksUrl },
});
installLambdaGlobal();
const gateway = createGateway({ mounted: await importRoutes(), functionTimeoutMs: 60_000 });
const { url } = await listen(createServer((req, res) => void gateway.handle(req, res)));
console.log(url + basePath);
