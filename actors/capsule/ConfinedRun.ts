import { Effect } from "effect"
import type { ModuleRunner } from "../../runner/execution/ModuleRunner.ts"
import type { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"

/** Records how a Run is kept apart and what it reaches, right before its module is executed: it stays known however the Run ends. */
export const recordConfinement = (
  services: { readonly runner: ModuleRunner["Service"]; readonly ledger: RunLedger["Service"] },
  run: RunRow
): Effect.Effect<void> =>
  Effect.flatMap(services.runner.confinement, (confinement) => services.ledger.set(run.id, { ...confinement }))
