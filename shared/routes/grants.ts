import type { Partition } from '../table/schema.ts';

/** Reads of one item, of several at once and of a range of a partition, and the ways to write one item. */
export type TableAction = 'get' | 'batchGet' | 'query' | 'put' | 'update' | 'delete';
export type TableGrants = { readonly [P in Partition]?: readonly TableAction[] };

/** What a function may access. Infrastructure grants exactly this. */
export interface Grants {
  table?: TableGrants;
  /** Prefixes of the bucket that it may read, write or hand out links for. */
  readObjects?: readonly string[];
  writeObjects?: readonly string[];
  /** Prefixes below which it may delete. */
  deleteObjects?: readonly string[];
  /** It may sign links to previews and samples by the role that all who sign such links share. */
  previews?: true;
  /** It may look accounts up in the user pool. */
  accountDirectory?: true;
  /** It may send e-mails in the deployment's name. */
  mail?: true;
  model?: boolean;
  /** It may ask SageMaker's control plane how an endpoint that scales to zero is. */
  modelStatus?: true;
  /** It may call the job that fetches reference images. */
  references?: boolean;
  /** It may have prompts checked, where the deployment checks them. */
  promptCheck?: true;
  /** It may put requests that nobody waits for into their queue. */
  queue?: boolean;
}
