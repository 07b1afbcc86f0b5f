import { Effect, type FileSystem, Option, Path } from "effect"
import type { SqlClient } from "effect/sql"
import { formatBytes } from "../../../runner/sandbox/limits/LimitExceeded.ts"
import { databaseName } from "../../database/DataFolder.ts"
import { largestChecked } from "../../database/DatabaseCheck.ts"
import type { Settings } from "../../settings/Settings.ts"
import { archiveFindings } from "./ArchiveFindings.ts"
import type { CheckCaller, CheckFacts } from "./Check.ts"
import {
  besideServer,
  databaseFinding,
  givenKeys,
  migrationsFinding,
  neededKeys,
  vaultFinding
} from "./DataFindings.ts"
import { failedLook, type Finding } from "./DoctorReport.ts"
import { installationFinding, restoreFinding, sealedFinding } from "./InstallationFindings.ts"

interface StoredSubject {
  readonly settings: Settings
  /** Real path of the data folder. */
  readonly folder: string
  readonly caller: CheckCaller
  /** True if another process serves the folder. */
  readonly isServed: boolean
}

type Services =
  | SqlClient.SqlClient
  | FileSystem.FileSystem
  | Path.Path
  | Effect.Services<ReturnType<typeof givenKeys>>
  | Effect.Services<ReturnType<typeof sealedFinding>>

type Unreadable =
  | Effect.Error<ReturnType<typeof databaseFinding>>
  | Effect.Error<ReturnType<typeof migrationsFinding>>
  | Effect.Error<ReturnType<typeof installationFinding>>
  | Effect.Error<ReturnType<typeof sealedFinding>>
  | Effect.Error<ReturnType<typeof archiveFindings>>
  | Effect.Error<typeof restoreFinding>
  | Effect.Error<typeof neededKeys>

interface StoredCheck extends CheckFacts {
  readonly look: (subject: StoredSubject) => Effect.Effect<ReadonlyArray<Finding>, Unreadable, Services>
}

const one = <E, R>(finding: Effect.Effect<Finding, E, R>) => Effect.map(finding, (only) => [only])

/** Finds the process that uses the folder, before the database is opened. */
export const serverCheck: CheckFacts = {
  name: "server",
  looksAt: "no other process uses the data folder; the kernel releases the lock of a killed process",
  atStart: "opening",
  onError: "refuses",
  less: "startup refuses; `svc doctor` only reports the process"
}

/** Checks that read the database but do not change it. Both the doctor and the startup run them. */
export const storedChecks: ReadonlyArray<StoredCheck> = [
  {
    name: "database",
    looksAt: "the database exists, and its pages and references are intact",
    atStart: "opening",
    onError: "refuses",
    less: `only the pages, without indexes and references, of a database of up to ${formatBytes(largestChecked)}`,
    look: Effect.fnUntraced(function* ({ folder, isServed }) {
      const path = yield* Path.Path
      return [yield* databaseFinding(path.join(folder, databaseName), isServed)]
    })
  },
  {
    name: "migrations",
    looksAt: "this release supports the tables",
    atStart: "opening",
    onError: "refuses",
    look: ({ isServed }) => one(migrationsFinding(isServed))
  },
  {
    name: "installation",
    looksAt: "folder, database and `SVC_INSTALLATION` belong to the same installation",
    atStart: "opening",
    onError: "refuses",
    look: ({ folder, settings }) => one(installationFinding(folder, settings.installation))
  },
  {
    name: "sealed",
    looksAt: "every sealed value can be decrypted in its place",
    atStart: "never",
    onError: "warns",
    less: "it decrypts every value; only the use of a damaged value fails",
    look: Effect.fnUntraced(function* ({ folder, settings }) {
      const { keys, whole } = yield* givenKeys(settings, folder)
      const needed = yield* neededKeys
      // If a key is missing, do not check the sealed values. The `vault` check reports the missing keys.
      const isComplete = needed.every((id) => keys.some((key) => key.id === id))
      return Option.isSome(whole) && isComplete ? [yield* sealedFinding(whole.value)] : []
    })
  },
  {
    name: "restore",
    looksAt: "restored records that nobody has confirmed",
    atStart: "ready",
    onError: "warns",
    look: () => restoreFinding
  },
  {
    name: "archives",
    looksAt: "the snapshots and builds of existing Capsules exist and are intact",
    atStart: "ready",
    onError: "warns",
    less: "only their existence; a Run verifies the contents when it reads them",
    look: ({ caller, folder }) => archiveFindings(folder, caller)
  },
  {
    name: "vault",
    looksAt: "the settings contain the master keys of the stored secrets",
    atStart: "opening",
    onError: "refuses",
    look: Effect.fnUntraced(function* ({ folder, isServed, settings }) {
      const finding = yield* Effect.catchCause(vaultFinding(settings, folder, yield* neededKeys), (cause) =>
        Effect.succeed(failedLook("vault", cause))
      )
      return [isServed ? besideServer(finding) : finding]
    })
  }
]

/** Runs some of these checks in order. */
export const storedFindings = Effect.fn("storedFindings")(function* (
  checks: ReadonlyArray<StoredCheck>,
  subject: StoredSubject
) {
  const findings: Array<Finding> = []
  for (const { look, name } of checks) {
    const found = yield* Effect.exit(look(subject))
    if (found._tag === "Success") findings.push(...found.value)
    // If the database is already reported as damaged, add no findings for its unreadable parts.
    else if (!findings.some(({ check, status }) => check === "database" && status === "error")) {
      if (name === "database") return yield* Effect.failCause(found.cause)
      findings.push(failedLook(name, found.cause))
    }
  }
  return findings
})
