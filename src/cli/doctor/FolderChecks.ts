import { Effect, type FileSystem, type Path } from "effect"
import type { DataFolderInspection } from "../../database/DataFolderInspection.ts"
import type { CheckFacts } from "./Check.ts"
import { clockFinding } from "./ClockFindings.ts"
import { folderFinding } from "./DataFindings.ts"
import { failedLook, type Finding } from "./DoctorReport.ts"
import { filesFinding } from "./FileFindings.ts"
import { diskFinding } from "./MachineFindings.ts"

interface FolderCheck extends CheckFacts {
  readonly look: (
    folder: DataFolderInspection
  ) => Effect.Effect<ReadonlyArray<Finding>, never, FileSystem.FileSystem | Path.Path>
}

const one = <R>(finding: Effect.Effect<Finding, never, R>) => Effect.map(finding, (only) => [only])

/** Checks to run before anything is opened. Both the doctor and the startup run them. */
export const folderChecks: ReadonlyArray<FolderCheck> = [
  {
    name: "folder",
    looksAt: "the data folder is on a local disk, and the server's user can use it",
    atStart: "before",
    onError: "refuses",
    look: (folder) => one(folderFinding(folder))
  },
  {
    name: "files",
    looksAt: "the server's user owns the files in it, and can read and write them",
    atStart: "before",
    onError: "refuses",
    look: filesFinding
  },
  {
    name: "disk",
    looksAt: "free disk space",
    atStart: "before",
    onError: "warns",
    look: (folder) => Effect.succeed([diskFinding(folder)])
  },
  {
    name: "clock",
    looksAt: "the clock is later than this release and the newest audit event",
    atStart: "before",
    onError: "warns",
    look: (folder) => one(clockFinding(folder.path))
  }
]

export interface FolderFinding extends Finding {
  readonly onError: CheckFacts["onError"]
}

/** Runs all these checks in order. Creates and changes nothing. */
export const folderFindings = Effect.fn("folderFindings")(function* (folder: DataFolderInspection) {
  const found = yield* Effect.forEach(folderChecks, ({ look, name, onError }) =>
    look(folder).pipe(
      Effect.catchCause((cause) => Effect.succeed([failedLook(name, cause)])),
      Effect.map((findings) => findings.map((finding): FolderFinding => ({ ...finding, onError })))
    )
  )
  return found.flat()
})

/** Returns true if the finding prevents a server from starting. */
export const isRefused = ({ onError, status }: FolderFinding): boolean => status === "error" && onError === "refuses"
