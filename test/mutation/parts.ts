interface Part {
  /** What is changed, below `shared/`. */
  code: readonly string[];
  /** Which tests judge it. */
  tests: readonly string[];
}

/** All unit tests of the service's own rooms. */
const unit =
  'unit/{base,table,images,accounts,licenses,identities,limits,keys,model,references,generations,billing}/**/*';

/** The rules of money and access, the stores and the workflow. No test that judges them speaks HTTP to the service. */
export const parts = {
  rules: {
    code: [
      'base/{base62,clock,ids,search,words}.ts',
      'images/!(*-store|*-forms|*-links|*-role|*-credentials|link-signer|image-types|*contract).ts',
      'accounts/audit.ts',
      'licenses/{activity,billing-period,credit-period,credits,license,names,notification-mail,notifications,tiers,usage}.ts',
      'identities/{identity,sample}.ts',
      'limits/{rate-limit,refusals}.ts',
      'keys/{api-key,slots}.ts',
      'model/{breaker-states,cold-start,tenant}.ts',
      'references/public-address.ts',
      'generations/{deletion,generation,idempotency}.ts',
      'billing/!(apply-event|stripe-lists|*-store).ts',
    ],
    tests: [
      unit,
      'engine/accounts/audit',
      'engine/admin/{audit,identity,license}',
      'engine/billing/{cut-off,handler,subscriptions}',
      'engine/keys/store',
      'engine/limits/refusals',
    ],
  },
  stores: {
    code: [
      'table/*.ts',
      '{accounts,licenses,limits,keys,model,generations,billing}/{store,*-store,item,pages}.ts',
      'identities/store.ts',
      'images/link-credentials-store.ts',
      'limits/count-uses.ts',
      'licenses/notification-part.ts',
      'generations/{in-flight,*-part}.ts',
      'billing/apply-event.ts',
    ],
    tests: [
      unit,
      'engine/accounts/audit',
      'engine/admin/{account,audit,identity,key,license}',
      'engine/billing/subscriptions',
      'engine/generations/{deletions,history,records,retries}',
      'engine/{identities,keys,licenses}/store',
      'engine/images/preview-credentials',
      'engine/keys/{access,budgets}',
      'engine/licenses/{notifications,send-notifications}',
      'engine/limits/refusals',
      'engine/model/cold-start',
      'engine/table/{away,reads}',
    ],
  },
  workflow: {
    code: [
      'images/preview-credentials.ts',
      'licenses/send-notifications.ts',
      'identities/usable.ts',
      'keys/manage.ts',
      'model/cold-start-notes.ts',
      'references/{read,prepare,discard}-references.ts',
      'generations/{answers,create,decide,delete,dry-run,enqueue,find,run-accepted,run-model,settle,sweep,try-model}.ts',
    ],
    tests: [
      unit,
      'engine/references/{function,requests}',
      'engine/generations/{runs,deletions}',
      'engine/images/preview-credentials',
      'engine/licenses/send-notifications',
      'engine/model/cold-start',
    ],
  },
} as const satisfies Record<string, Part>;
