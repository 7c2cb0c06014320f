import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { ServiceError, type Words } from '../base/errors.ts';
import { itemKeys } from '../table/keys.ts';
import { writeIf, type Table } from '../table/table.ts';
import type { GenerationRef } from './queue-contract.ts';

/** So often do the images of one request pass through a function, with the first answer; by their links as often as one likes. */
export const maxAnswersWithImages = 5;

/**
 * Counts a repeated answer that has the images themselves. The first one is not counted, so that it costs no write.
 * @returns false where there were as many as may be, or the request is deleted.
 */
export async function countAnswerWithImages(
  table: Table,
  { licenseId, requestId }: GenerationRef,
): Promise<boolean> {
  const command = new UpdateItemCommand({
    TableName: table.name,
    Key: marshall(itemKeys.generation(licenseId, requestId)),
    UpdateExpression: 'ADD answersWithImages :one',
    ConditionExpression:
      'attribute_exists(PK) AND (attribute_not_exists(answersWithImages) OR answersWithImages < :most)',
    ExpressionAttributeValues: marshall({ ':one': 1, ':most': maxAnswersWithImages - 1 }),
  });
  return writeIf(() => table.client.send(command));
}

/** For who asks for the images themselves once more. */
export function imagesSentBefore({ requestId }: GenerationRef): ServiceError {
  const sentence = ({ refetch }: Words) =>
    `response_format "b64_json" of this request was answered ${maxAnswersWithImages} times, as often as may be. ${refetch} for links, which open as often as you like; a new request with "url" has them at once.`;
  return new ServiceError('INVALID_PARAMETERS', sentence, { requestId });
}
