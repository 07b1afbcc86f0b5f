import { Context, Effect, FileSystem, Layer, Option, Path, Schedule } from "effect"
import { ModuleRunner } from "./ModuleRunner.ts"
import type { UnfinishedApply } from "./RunOutcome.ts"

/** Identifies one execution of a Run. */
export interface RunFolderKey {
  readonly runId: string
  readonly fence: number
}

/** The remains of an execution. `unreadable` means that svc cannot interpret the contents of its folder. */
export type FoundUnfinishedApply =
  | { readonly kind: "nothing" }
  | { readonly kind: "left"; readonly left: UnfinishedApply }
  | { readonly kind: "unreadable" }

/** The suffix of a folder that could not be read. `sweep` never removes such a folder. */
const setAsideSuffix = ".unreadable"

const nameOf = ({ fence, runId }: RunFolderKey): string => `${runId}-${fence}`

/** The folders of executions on this machine. svc searches them when it settles a Run whose execution was interrupted. */
export class RunFolders extends Context.Service<
  RunFolders,
  {
    /** Returns the absolute path of an execution's folder. Does not create the folder. */
    readonly pathOf: (key: RunFolderKey) => string
    /** Returns the state that an apply left. Kills processes that still use the apply's folder. */
    readonly leftBy: (key: RunFolderKey) => Effect.Effect<FoundUnfinishedApply>
    /**
     * Removes a folder whose state is stored elsewhere. If this fails, only logs the failure, because the next sweep tries
     * again.
     */
    readonly remove: (key: RunFolderKey) => Effect.Effect<void>
    /** Sets the folder aside for a person to inspect. */
    readonly setAside: (key: RunFolderKey) => Effect.Effect<void>
    /** Removes all folders that are not set aside. Sets aside the folders in `kept`. Call it while no Run is running. */
    readonly sweep: (kept: ReadonlyArray<RunFolderKey>) => Effect.Effect<void>
  }
>()("svc/runner/execution/RunFolders") {
  /** Uses folders below `folder`, an absolute path on a durable disk. */
  static readonly layerAt = (folder: string) =>
    Layer.effect(
      RunFolders,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const runner = yield* ModuleRunner

        const pathOf = (key: RunFolderKey) => path.join(folder, nameOf(key))

        const leftBy = (key: RunFolderKey) =>
          runner.recover(pathOf(key)).pipe(
            Effect.map(
              Option.match({
                onNone: (): FoundUnfinishedApply => ({ kind: "nothing" }),
                onSome: (left): FoundUnfinishedApply => ({ kind: "left", left })
              })
            ),
            Effect.catch((error) =>
              Effect.as(Effect.logError("The run folder of an apply could not be read", error), {
                kind: "unreadable" as const
              })
            )
          )

        const remove = (key: RunFolderKey) =>
          files.remove(pathOf(key), { recursive: true, force: true }).pipe(
            Effect.retry({ times: 3, schedule: Schedule.spaced("100 millis") }),
            Effect.catch((error) => Effect.logError("A run folder could not be removed", error))
          )

        const setAside = (key: RunFolderKey) =>
          Effect.ignore(files.rename(pathOf(key), `${pathOf(key)}${setAsideSuffix}`))

        const sweep = Effect.fn("RunFolders.sweep")(function* (kept: ReadonlyArray<RunFolderKey>) {
          yield* Effect.ignore(files.makeDirectory(folder, { recursive: true, mode: 0o700 }))
          for (const key of kept) yield* setAside(key)
          const names = yield* Effect.orElseSucceed(files.readDirectory(folder), () => [])
          for (const name of names) {
            if (!name.endsWith(setAsideSuffix)) yield* Effect.ignore(runner.discard(path.join(folder, name)))
          }
        })

        return RunFolders.of({ pathOf, leftBy, remove, setAside, sweep })
      })
    )
}
