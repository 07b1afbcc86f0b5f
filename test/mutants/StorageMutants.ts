import type { Mutant } from "./Mutant.ts"

const startChecks = "test/src/cli/StartAdmission.test.ts"
const fullDisk = "test/src/http/FullDisk.test.ts"

/** Mutants of the guarantees on a full disk. */
export const storageMutants: ReadonlyArray<Mutant> = [
  {
    name: "full disk: writes are refused before they begin",
    file: "src/http/authorization/Admission.ts",
    text: "isFull ? Effect.fail(new ApiError(storageFull)) : admission",
    broken: "isFull && Math.PI < 3 ? Effect.fail(new ApiError(storageFull)) : admission",
    test: fullDisk
  },
  {
    name: "full disk: the server is not ready",
    file: "src/http/Health.ts",
    text: 'if (yield* storage.isFull) return "storage_full"',
    broken: "",
    test: fullDisk
  },
  {
    name: "full disk: a write that found no room says so",
    file: "src/http-kit/ErrorResponse.ts",
    text: "hasStorageFull(cause) ? new ApiError(storageFull) : internalError",
    broken: "internalError",
    test: fullDisk
  },
  {
    name: "start: what the server's user cannot open is refused",
    file: "src/cli/doctor/FolderChecks.ts",
    text: "look: filesFinding",
    broken: "look: () => Effect.succeed([])",
    test: startChecks
  },
  {
    name: "start: a clock behind what was recorded is noticed",
    file: "src/cli/doctor/ClockFindings.ts",
    text: "> now + toleratedMillis",
    broken: "> now + toleratedMillis * 1e9",
    test: startChecks
  },
  {
    name: "start: a server runs the checks of doctor",
    file: "src/cli/ServeCommand.ts",
    text: "yield* Effect.provide(admitStart(settings), logs)",
    broken: "",
    test: startChecks
  },
  {
    name: "start: little disk does not keep a server from starting",
    file: "src/cli/doctor/FolderChecks.ts",
    text: `status === "error" && onError === "refuses"`,
    broken: `status === "error"`,
    test: startChecks
  },
  {
    name: "start: a server that is ready makes the other checks of doctor",
    file: "src/cli/ServeCommand.ts",
    text: "Effect.andThen(reportStart(settings)),",
    broken: "",
    test: startChecks
  },
  {
    name: "doctor: an empty folder is not the installation that the settings name",
    file: "src/database/FirstStart.ts",
    text: "if (expected !== undefined) return {",
    broken: "if (expected !== undefined && Math.PI < 3) return {",
    test: "test/src/database/FirstStart.test.ts"
  },
  {
    name: "doctor: a lost snapshot that a Capsule needs is named",
    file: "src/cli/doctor/ArchiveFindings.ts",
    text: "if (!(yield* fs.exists(place))) return true",
    broken: "if (!(yield* fs.exists(place))) return false",
    test: "test/src/cli/ArchiveFindings.test.ts"
  },
  {
    name: "backup: the first format is still read",
    file: "src/database/BackupManifest.ts",
    text: "Schema.Union([BackupManifest, DatabaseOnly])",
    broken: "Schema.Union([BackupManifest])",
    test: "test/upgrade/OlderBackup.test.ts"
  },
  {
    name: "backup: what a source build made is taken along",
    file: "src/database/NeededFiles.ts",
    text: '({ kind: "build" as const, digest }))',
    broken: '({ kind: "build" as const, digest })).slice(0, 0)',
    test: "test/src/cli/BackupCommands.test.ts"
  },
  {
    name: "vault: a part of a long value opens as this part only",
    file: "actors/base/vault/SealedParts.ts",
    text: "value, part, isLast ? 1 : 0])",
    broken: "value, 0, 0])",
    test: "test/actors/base/vault/SealedParts.test.ts"
  },
  {
    name: "vault: a part of a long value opens for its value only",
    file: "actors/base/vault/SealedParts.ts",
    text: "...valueIdentity(key.id, context), value, part",
    broken: "...valueIdentity(key.id, context), part",
    test: "test/actors/base/vault/SealedParts.test.ts"
  },
  {
    name: "vault: the end of a row takes no other row's parts",
    file: "schema/tables/VaultTables.ts",
    text: "WHERE value = OLD.${column} AND owner = OLD.${key}",
    broken: "WHERE value = OLD.${column}",
    test: "test/actors/base/vault/SealedParts.test.ts"
  },
  {
    name: "agents: a result is acknowledged when what it names opens",
    file: "actors/running/agent/AgentBlobs.ts",
    text: "Effect.mapError(Stream.runDrain(contents), refusedAs)",
    broken: "Effect.void",
    test: "test/src/http/agent/AgentStates.test.ts"
  },
  {
    name: "full disk: an empty file next to a printed state",
    file: "runner/execution/LeftState.ts",
    text: "(isEmpty && !isReplaced)",
    broken: "isEmpty",
    test: "test/runner/execution/ApplyFaults.test.ts"
  },
  {
    name: "full disk: an empty file alone",
    file: "runner/execution/LeftState.ts",
    text: "(isEmpty && !isReplaced)",
    broken: "false",
    test: "test/runner/execution/ApplyFaults.test.ts"
  },
  {
    name: "full disk: a step that expects no failure",
    file: "src/cli/CommandLine.ts",
    text: "Cause.isDieReason(reason) && isStorageFull(reason.defect)",
    broken: "Cause.isDieReason(reason) && reason.defect === null",
    test: "test/src/cli/CommandLine.test.ts"
  },
  {
    name: "pages: a damaged one",
    file: "src/database/PageWatch.ts",
    text: `pagetype === "corrupted" ||`,
    broken: "",
    test: "test/src/database/PageWatch.test.ts"
  },
  {
    name: "pages: the rate",
    file: "src/database/PageWatch.ts",
    text: "const bytesPerSecond = 5_000_000",
    broken: "const bytesPerSecond = 50_000_000",
    test: "test/src/database/PageWatch.test.ts"
  },
  {
    name: "pages: the notice",
    file: "src/http/Health.ts",
    text: "(yield* pages.fault) !== undefined",
    broken: "(yield* pages.fault) === null",
    test: "test/src/database/PageWatch.test.ts"
  }
]
