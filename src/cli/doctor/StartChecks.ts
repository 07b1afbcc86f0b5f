import { Effect, type FileSystem, type Path } from "effect"
import type { DataFolderLook } from "../../database/DataFolderLook.ts"
import { clockFinding } from "./ClockFindings.ts"
import { folderFinding } from "./DataFindings.ts"
import { failedLook, type Finding } from "./DoctorReport.ts"
import { filesFinding } from "./FileFindings.ts"
import { diskFinding } from "./MachineFindings.ts"

interface StartCheck {
  readonly name: "folder" | "files" | "disk" | "clock"
  /** Whether an error keeps a server from starting, or is only logged, because running Runs are better served than stopped. */
  readonly atStart: "refuses" | "warns"
  readonly look: (
    folder: DataFolderLook
  ) => Effect.Effect<ReadonlyArray<Finding>, never, FileSystem.FileSystem | Path.Path>
}

const one = <R>(finding: Effect.Effect<Finding, never, R>) => Effect.map(finding, (only) => [only])

/** What `svc doctor` and the start of a server both look at before they open anything, in the same words. */
const startChecks: ReadonlyArray<StartCheck> = [
  { name: "folder", atStart: "refuses", look: (folder) => one(folderFinding(folder)) },
  { name: "files", atStart: "refuses", look: filesFinding },
  { name: "disk", atStart: "warns", look: (folder) => Effect.succeed([diskFinding(folder)]) },
  { name: "clock", atStart: "warns", look: (folder) => one(clockFinding(folder.path)) }
]

export interface StartFinding extends Finding {
  readonly atStart: StartCheck["atStart"]
}

/** Every finding of the checks, in their order. Nothing is created or changed. */
export const startFindings = Effect.fn("startFindings")(function* (folder: DataFolderLook) {
  const found = yield* Effect.forEach(startChecks, ({ atStart, look, name }) =>
    look(folder).pipe(
      Effect.catchCause((cause) => Effect.succeed([failedLook(name, cause)])),
      Effect.map((findings) => findings.map((finding): StartFinding => ({ ...finding, atStart })))
    )
  )
  return found.flat()
})

/** Whether a server would refuse to start for it. */
export const isRefused = ({ atStart, status }: StartFinding): boolean => status === "error" && atStart === "refuses"

/** A finding as one line of the log or of a refusal. */
export const findingLine = ({ message, remedy }: Finding): string =>
  remedy === undefined ? message : `${message} ${remedy}`
