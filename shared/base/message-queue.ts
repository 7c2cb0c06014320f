import { S3Client } from '@aws-sdk/client-s3';
import { signedFetch } from './signed-fetch.ts';

/** Messages are two ids, and are sent while a caller waits. */
const answerWithinMs = 1000;
/** Both tries together take no longer than two seconds. */
const tries = 2;

/**
 * A queue (Amazon SQS API Reference, "SendMessage", "ChangeMessageVisibility").
 * @param url the queue's own
 * @param sqsUrl where it is not the host that the queue is at
 */
export function messageQueue(url: string, sqsUrl: string | null) {
  // Any client knows the region and the credentials.
  const post = signedFetch('sqs', new S3Client({}).config);

  async function once(operation: string, members: object): Promise<void> {
    const headers = {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `AmazonSQS.${operation}`,
    };
    const body = JSON.stringify({ QueueUrl: url, ...members });
    const answer = await post({
      url: new URL('/', sqsUrl ?? url).href,
      headers,
      body,
      withinMs: answerWithinMs,
    });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`SQS answered ${operation} with status ${answer.status}`);
  }

  async function call(operation: string, members: object): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await once(operation, members);
      } catch (error) {
        // SQS throttles by a 4xx, too.
        if (attempt === tries) throw error;
      }
    }
  }

  return {
    /**
     * A try whose answer was lost may have been taken too: the message is there twice then.
     * @param group whose it is: where there are many, each group has its turn
     */
    send: (body: object, group: string) =>
      call('SendMessage', { MessageBody: JSON.stringify(body), MessageGroupId: group }),

    /** Has a message that was received come back after so many whole seconds. */
    bringBack: (receiptHandle: string, seconds: number) =>
      call('ChangeMessageVisibility', { ReceiptHandle: receiptHandle, VisibilityTimeout: seconds }),
  };
}
