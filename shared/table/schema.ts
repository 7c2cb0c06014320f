import { deletionPrefix, generationPrefix, leaseIndex, notificationPartition, ownerIndex } from './keys.ts';

/**
 * The kinds of partitions: how their keys begin, and their index if they belong to one. A function's grants name these
 * kinds, and its permissions are limited to keys that begin so.
 */
export const partitions = {
  keys: { leadingKey: 'KEY#' },
  rateLogs: { leadingKey: 'RATE#' },
  idempotency: { leadingKey: 'ONCE#' },
  tries: { leadingKey: 'TRY#' },
  licenses: { leadingKey: 'LICENSE#' },
  activeKeys: { leadingKey: 'ROSTER#' },
  periods: { leadingKey: 'PERIOD#' },
  purchases: { leadingKey: 'PURCHASE#' },
  generations: { leadingKey: generationPrefix },
  notifications: { leadingKey: notificationPartition },
  accounts: { leadingKey: 'ACCOUNT#' },
  deletions: { leadingKey: deletionPrefix },
  catalog: { leadingKey: 'CATALOG' },
  model: { leadingKey: 'MODEL' },
  links: { leadingKey: 'LINKS' },
  audit: { leadingKey: 'AUDIT#' },
  refusals: { leadingKey: 'REFUSED#' },
  owners: { leadingKey: 'OWNER#', index: ownerIndex.name },
  leases: { leadingKey: 'LEASE#', index: leaseIndex.name },
} as const satisfies Record<string, { leadingKey: string; index?: string }>;

export type Partition = keyof typeof partitions;

/** The table's definition, for the stack, the local runtime and the tests. */
export const tableSchema = {
  AttributeDefinitions: [
    { AttributeName: 'PK', AttributeType: 'S' },
    { AttributeName: 'SK', AttributeType: 'S' },
    { AttributeName: ownerIndex.partition, AttributeType: 'S' },
    { AttributeName: ownerIndex.sort, AttributeType: 'S' },
    { AttributeName: leaseIndex.partition, AttributeType: 'S' },
    { AttributeName: leaseIndex.sort, AttributeType: 'N' },
  ],
  KeySchema: [
    { AttributeName: 'PK', KeyType: 'HASH' },
    { AttributeName: 'SK', KeyType: 'RANGE' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: ownerIndex.name,
      KeySchema: [
        { AttributeName: ownerIndex.partition, KeyType: 'HASH' },
        { AttributeName: ownerIndex.sort, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
    {
      IndexName: leaseIndex.name,
      KeySchema: [
        { AttributeName: leaseIndex.partition, KeyType: 'HASH' },
        { AttributeName: leaseIndex.sort, KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
  ],
  BillingMode: 'PAY_PER_REQUEST',
} as const;
