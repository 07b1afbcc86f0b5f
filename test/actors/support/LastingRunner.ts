import { basename } from "node:path"
import { Effect, Layer, Option, Redacted } from "effect"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import type { UnfinishedApply } from "../../../runner/execution/RunOutcome.ts"
import { pureModules, pureRunner } from "./PureRunner.ts"

/** Contents of the run folders, keyed by folder name. They survive a restart of the service. */
export type LeftFolders = Map<string, UnfinishedApply>

const withOutput = (state: Redacted.Redacted<Uint8Array>, name: string, value: string) => {
  const parsed: { readonly outputs: object } = JSON.parse(new TextDecoder().decode(Redacted.value(state)))
  const text = JSON.stringify({ ...parsed, outputs: { ...parsed.outputs, [name]: value } })
  return Redacted.make(new TextEncoder().encode(text))
}

/**
 * A runner that starts no processes but has run folders. Like the real runner, it reports the phase of an apply and writes
 * the state to `folders`. Every state contains `secret`.
 */
export const lastingRunner = (folders: LeftFolders, secret: string) =>
  Layer.effect(
    ModuleRunner,
    Effect.map(ModuleRunner, (pure) =>
      ModuleRunner.of({
        ...pure,
        apply: Effect.fnUntraced(function* (job, control) {
          yield* control.sink.event("run.phase", { phase: "apply" })
          const outcome = yield* pure.apply(job, control)
          const { lineage, resourceCount, serial, state } = outcome
          if (state === undefined || lineage === undefined || serial === undefined || resourceCount === undefined) {
            return yield* Effect.die("A pure apply leaves a state")
          }
          const kept = { state: withOutput(state, "kept", secret), lineage, serial, resourceCount }
          const left = { ...kept, started: [], completed: [], possiblyCreated: [], changedAnything: true }
          folders.set(basename(control.runFolder), left)
          return { ...outcome, ...kept }
        }),
        recover: (runFolder) => Effect.sync(() => Option.fromUndefinedOr(folders.get(basename(runFolder))))
      })
    )
  ).pipe(Layer.provideMerge(pureRunner(pureModules())))
