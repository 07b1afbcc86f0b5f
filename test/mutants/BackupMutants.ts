import type { Mutant } from "./Mutant.ts"

const commands = "test/src/cli/BackupCommands.test.ts"
const schedule = "test/src/backup/ScheduledBackups.test.ts"
const storedCommits = "test/actors/inputs/git/StoredCommits.test.ts"

/** Mutants of backups: without the guards, a backup cannot be restored, or its files differ from the recorded commits. */
export const backupMutants: ReadonlyArray<Mutant> = [
  {
    name: "backup: the digest of each file",
    file: "src/database/BackupSeal.ts",
    text: "if (sha256 !== entry.sha256) return",
    broken: "if (sha256 === undefined) return",
    test: commands
  },
  {
    name: "backup: a damaged snapshot is not carried on",
    file: "src/database/BackupFiles.ts",
    text: "if (!(yield* isWhole(file, place))) return undefined",
    broken: "if (!(yield* fs.exists(place))) return undefined",
    test: commands
  },
  {
    name: "backup verify: sealed values",
    file: "src/database/BackupVerification.ts",
    text: "unknown.length > 0 ? [] : yield* integrityFaults(keyring)",
    broken: "unknown.length > 0 ? [] : (yield* integrityFaults(keyring)).slice(0, 0)",
    test: commands
  },
  {
    name: "backup verify: the exit code",
    file: "src/cli/BackupCommands.ts",
    text: "if (found.problems.length > 0) return yield* refused",
    broken: "if (found.problems.length > 100) return yield* refused",
    test: commands
  },
  {
    name: "stored commit: an archive that changed after it was read",
    file: "runner/snapshot/SnapshotStore.ts",
    text: "if (Option.exists(present, (info) => isSameFile(archive.written, info))) return archive",
    broken: "if (Option.isSome(present)) return archive",
    test: storedCommits
  },
  {
    name: "stored commit: the recorded bytes",
    file: "actors/inputs/git/StoredCommits.ts",
    text: "if (synced.archiveDigest !== digest)",
    broken: "if (synced.archiveDigest === undefined)",
    test: storedCommits
  },
  {
    name: "scheduled backup: verified before it counts",
    file: "src/backup/ScheduledBackups.ts",
    text: "Effect.andThen(verified(settings, pending)),",
    broken: "",
    test: schedule
  },
  {
    name: "scheduled backup: notices are for operators",
    file: "src/http/handlers/DashboardHandlers.ts",
    text: "isOperator ? yield* backups.notices : []",
    broken: "yield* backups.notices",
    test: schedule
  }
]
