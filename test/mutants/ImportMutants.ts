import type { Mutant } from "./Mutant.ts"

const test = "test/actors/commands/adoption/BackupImport.test.ts"
const file = "actors/commands/adoption/SealedBackupFile.ts"

/** Mutants of importing a backup from another installation. */
export const importMutants: ReadonlyArray<Mutant> = [
  {
    name: "import: the digest of the archive",
    file,
    text: "if (digestOf(archive) !== digest)",
    broken: 'if (digest === "")',
    test
  },
  {
    name: "import: the serial is higher than that of the backup",
    file,
    text: "withSerial(original, version.serial + 1)",
    broken: "withSerial(original, version.serial)",
    test
  },
  {
    name: "import: missing master keys are named",
    file: "actors/base/vault/Vault.ts",
    text: "(id) => !available.some((key) => key.id === id)",
    broken: '(id) => id === ""',
    test
  },
  {
    name: "import: another Capsule of the backup is chosen by name alone",
    file,
    text: "asked === undefined && others.length === 0 ? only",
    broken: "asked === undefined ? only",
    test
  },
  {
    name: "import: the Capsule begins disabled",
    file: "actors/ledger/capsule/CapsuleLedger.ts",
    text: 'capsule.importedFrom === undefined ? "pending" : "disabled"',
    broken: 'capsule.importedFrom === undefined ? "pending" : "pending"',
    test
  },
  {
    name: "import: nobody enables it without the confirmation",
    file: "actors/commands/capsule/CapsuleSettings.ts",
    text: "if (isUnconfirmed(capsule)) return",
    broken: "if (capsule.status !== 'disabled') return",
    test
  },
  {
    name: "import: the name is typed",
    file: "actors/commands/capsule/CapsuleActor.ts",
    text: "const killPoint = yield* KillPoint\n  return yield* Effect.gen(function* () {\n    const capsule = yield* load\n    if (confirm !== capsule.name) {",
    broken:
      'const killPoint = yield* KillPoint\n  return yield* Effect.gen(function* () {\n    const capsule = yield* load\n    if (confirm === "") {',
    test
  },
  {
    name: "import: confirmed once",
    file: "actors/commands/capsule/CapsuleActor.ts",
    text: "if (!isUnconfirmed(capsule)) {",
    broken: "if (isUnconfirmed(capsule) && confirm === '') {",
    test
  },
  {
    name: "import: a plan comes before anything else",
    file: "actors/commands/capsule/CapsuleRuns.ts",
    text: 'if ((type !== "plan" || request.purpose === acceptsDrift) && hasImportedState(capsule)) {',
    broken: 'if (type === "restore" && hasImportedState(capsule)) {',
    test
  },
  {
    name: "import: what the original may still do",
    file: "actors/running/execution/AdoptedState.ts",
    text: "return imported_from === null",
    broken: "return imported_from !== undefined",
    test
  },
  {
    name: "import: the secrets of its state",
    file: "actors/commands/adoption/StateAdoption.ts",
    text: "          secrets,\n          build:",
    broken: "          secrets: [],\n          build:",
    test
  },
  {
    name: "access: an import is confirmed in a session",
    file: "schema/api/Roles.ts",
    text: '"POST /api/v1/capsules/:capsuleId/import-confirmation": owner("path.capsuleId", { confirmed: true })',
    broken: '"POST /api/v1/capsules/:capsuleId/import-confirmation": owner("path.capsuleId")',
    test: "test/src/http/AuthorizationTable.test.ts"
  },
  {
    name: "access: an owner uploads a backup",
    file: "schema/api/Roles.ts",
    text: '"POST /api/v1/workspaces/:workspaceId/backup-uploads": owner(',
    broken: '"POST /api/v1/workspaces/:workspaceId/backup-uploads": admin(',
    test: "test/src/http/AuthorizationTable.test.ts"
  }
]
