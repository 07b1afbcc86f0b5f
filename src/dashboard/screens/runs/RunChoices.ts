import type { Run, RunStatus as Status, RunType as Type } from "../../api/Types.ts"

// The available choices in order.

const ordered = <A extends string>(choices: Readonly<Record<A, true>>): ReadonlyArray<A> =>
  Object.keys(choices).filter((choice): choice is A => choice in choices)

export const runStatuses = ordered<Status>({
  queued: true,
  running: true,
  waiting_approval: true,
  succeeded: true,
  failed: true,
  cancelled: true,
  superseded: true,
  expired: true
})

export const runTypes = ordered<Type>({
  plan: true,
  apply: true,
  destroy_plan: true,
  destroy_apply: true,
  drift_check: true,
  source_sync: true,
  compatibility_check: true,
  backup: true,
  restore: true
})

export const runTriggers = ordered<Run["trigger"]>({
  user: true,
  webhook: true,
  schedule: true,
  auto_update: true,
  service: true
})
