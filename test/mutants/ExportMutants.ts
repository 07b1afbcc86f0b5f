import type { Mutant } from "./Mutant.ts"

const exports = "test/actors/commands/capsule-export/CapsuleExports.test.ts"
const inputs = "test/actors/commands/capsule-export/ExportedInputs.test.ts"
const withTool = "test/actors/commands/capsule-export/ExportWithTool.test.ts"
const table = "test/src/http/AuthorizationTable.test.ts"
const serviceFile = "actors/commands/capsule-export/CapsuleExports.ts"
const linkFile = "actors/commands/capsule-export/CapsuleExports.ts"
const filesFile = "actors/commands/capsule-export/CapsuleExports.ts"

/** Mutants of exports: permissions, timing and omitted data. */
export const exportMutants: ReadonlyArray<Mutant> = [
  {
    name: "export: the session that asked",
    file: linkFile,
    text: "[holder, capsuleId, stateVersionId, expires, id].join",
    broken: "[capsuleId, stateVersionId, expires, id].join",
    test: exports
  },
  {
    name: "export: the link ends",
    file: linkFile,
    text: "if ((yield* Clock.currentTimeMillis) >= expires) {",
    broken: "if ((yield* Clock.currentTimeMillis) >= expires * 2) {",
    test: exports
  },
  {
    name: "export: a forged link",
    file: linkFile,
    text: "if (!isGenuine) return",
    broken: "if (!isGenuine && mac === '') return",
    test: exports
  },
  {
    name: "export: a link serves once",
    file: serviceFile,
    text: "      if (yield* isUsed(capsuleId, id)) return yield* linkUsed\n",
    broken: "",
    test: exports
  },
  {
    name: "export: the state that the link is for",
    file: linkFile,
    text: "if (stateVersionId !== subject.stateVersionId) {",
    broken: "if (stateVersionId === undefined) {",
    test: exports
  },
  {
    name: "export: the typed name",
    file: serviceFile,
    text: "return confirm === subject.capsule.name",
    broken: "return confirm !== ''",
    test: exports
  },
  {
    name: "export: a Run that moves the Capsule",
    file: serviceFile,
    text: "    yield* refuseConflictingRun(capsuleId)\n",
    broken: "",
    test: exports
  },
  {
    name: "export: the Workspace of the caller",
    file: serviceFile,
    text: "capsule === undefined || capsule.workspace_id !== workspaceId",
    broken: "capsule === undefined",
    test: exports
  },
  {
    name: "export: recorded before it is answered",
    file: serviceFile,
    text: '      yield* record("capsule.export", by, subject)\n',
    broken: "",
    test: exports
  },
  {
    name: "export: recorded before the first byte",
    file: serviceFile,
    text: '      yield* record("capsule.export_download", by, current.subject, current.id)\n',
    broken: "",
    test: exports
  },
  {
    name: "export: owners who confirmed who they are",
    file: "schema/api/Roles.ts",
    text: 'exports": owner("path.capsuleId", {\n    confirmed: true,',
    broken: 'exports": owner("path.capsuleId", {\n    session: true,',
    test: table
  },
  {
    name: "export: downloads of owners",
    file: "schema/api/Roles.ts",
    text: '"GET /api/v1/capsules/:capsuleId/exports/:exportLink": owner(',
    broken: '"GET /api/v1/capsules/:capsuleId/exports/:exportLink": admin(',
    test: table
  },
  {
    name: "export: secret inputs",
    file: "actors/commands/capsule-export/ExportedInputs.ts",
    text: "} else if (sensitive || ephemeral || variable.sensitive) {",
    broken: "} else if (sensitive || ephemeral) {",
    test: inputs
  },
  {
    name: "export: the inputs of the state",
    file: "actors/commands/capsule-export/ExportContents.ts",
    text: "state.source_snapshot_id === snapshot.id ? state.install_config_id : capsule.install_config_id",
    broken: "capsule.install_config_id",
    test: exports
  },
  {
    name: "export: the manifest stays here",
    file: filesFile,
    text: "if (repositoryPathOf(snapshot, path) === manifestPath) return true",
    broken: "",
    test: withTool
  },
  {
    name: "export: states and variable files of the repository",
    file: filesFile,
    text: "return isAmbientFile(name) || ",
    broken: "return ",
    test: withTool
  },
  {
    name: "export: paths that lead elsewhere",
    file: "runner/snapshot/PlainArchive.ts",
    text: "if (!isRepositoryPath(path)) return",
    broken: "if (path === '') return",
    test: "test/runner/snapshot/PlainArchive.test.ts"
  }
]
