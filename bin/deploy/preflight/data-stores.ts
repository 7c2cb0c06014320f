/** What holds customers' data, by the beginnings of the logical ids. The stack's deletion leaves them. */
export const dataStores = [
  { logicalId: 'RecordsTable', name: 'the table' },
  { logicalId: 'ImagesBucket', name: 'the bucket of images' },
  { logicalId: 'AccountsUserPool', name: 'the user pool' },
];
