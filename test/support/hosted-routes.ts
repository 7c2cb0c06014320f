import { openGateway } from './recorded-gateway.ts';

/*
 * A process with every route and no engine behind it: the first line that it prints is where it listens, the others are
 * its log. jest could not host it: errors of Node.js are of another realm there, and the SDK does not know them.
 */
const [dynamoDbUrl = '', jwksUrl = '', issuer = '', clientId = ''] = process.argv.slice(2);
const session = { issuer, clientId, jwksUrl };
const { baseUrl } = await openGateway({ dynamoDbUrl, session, deadlineSeconds: 1, asyncDeadlineSeconds: 1 });
console.log(baseUrl);
