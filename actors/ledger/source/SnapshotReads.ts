import { createHash } from "node:crypto"
import { Context, Effect, Layer, Option } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { ToolName } from "../../../runner/toolchain/Tool.ts"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import { ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { InstallModules } from "../../../schema/records/CompatibilityReport.ts"
import type { SnapshotFile } from "../../../schema/records/Source.ts"
import { manifestPath, repositoryPathOf } from "./SnapshotManifest.ts"
import type { SnapshotRow } from "./SourceRow.ts"

/** Maximum size, in bytes, of a file that a reader may request (specification, Limits). */
const maxFileBytes = 128 * 1024

const canonicalPath = /^(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]+(?:\/(?!\.{1,2}(?:\/|$))[^/\\\p{Cc}]+)*$/u

const decodeText = (bytes: Uint8Array) =>
  Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    catch: () => invalidRequest("path: the file is not valid UTF-8.")
  })

/**
 * Reads files inside an immutable snapshot. Never uses file system paths, so callers cannot access anything outside the
 * snapshot.
 */
export class SnapshotReads extends Context.Service<
  SnapshotReads,
  {
    readonly file: (snapshot: SnapshotRow, path: string) => Effect.Effect<SnapshotFile, ApiError>
    readonly modules: (snapshot: SnapshotRow) => Effect.Effect<InstallModules, ApiError>
  }
>()("svc/actors/ledger/source/SnapshotReads") {
  static readonly layer = Layer.effect(
    SnapshotReads,
    Effect.gen(function* () {
      const snapshots = yield* SnapshotStore
      const scanner = yield* ModuleScanner
      const toolchain = yield* Toolchain

      // The archive may be missing after a restore without snapshots, until the commit is planned again.
      const treeOf = (snapshot: SnapshotRow) =>
        snapshots.open(snapshot.archive_digest).pipe(
          Effect.mapError(
            () =>
              new ApiError({
                code: "failed_precondition",
                message: "The files of this commit are not stored here any more. A plan of it fetches them again."
              })
          )
        )

      const file = Effect.fn("SnapshotReads.file")(function* (snapshot: SnapshotRow, path: string) {
        if (path.length > 1024 || !canonicalPath.test(path)) {
          return yield* invalidRequest("path: expected a canonical path inside the snapshot.")
        }
        // Checks only the path, so that the response does not reveal whether the file exists.
        if (repositoryPathOf(snapshot, path) === manifestPath) {
          return yield* new ApiError({
            code: "permission_denied",
            message: `path: ${manifestPath} is not returned. The snapshot and its compatibility report say what it is worth.`
          })
        }
        const tree = yield* treeOf(snapshot)
        const omitted = tree.omitted.find((entry) => entry.path === path)
        if (omitted !== undefined) return yield* invalidRequest(`path: this is a ${omitted.kind}, not a regular file.`)
        const found = tree.files.find((entry) => entry.path === path)
        if (found === undefined) return yield* notFound("File")
        if (found.sizeBytes > maxFileBytes) {
          return yield* new ApiError({ code: "request_too_large", message: "The file is larger than 128 KiB." })
        }
        const bytes = yield* Effect.orDie(tree.read(path))
        return {
          kind: "svc.source-snapshot-file@v1" as const,
          sourceSnapshotId: snapshot.id,
          path,
          text: yield* decodeText(bytes),
          digest: `sha256:${createHash("sha256").update(bytes).digest("hex")}`,
          sizeBytes: bytes.length
        }
      })

      const modules = Effect.fn("SnapshotReads.modules")(function* (snapshot: SnapshotRow) {
        const tree = yield* treeOf(snapshot)
        const scanned = (tool?: ToolName) =>
          scanner.scanTree(tree, tool).pipe(
            Effect.catchTags({
              ScanLimitExceeded: (error) =>
                Effect.fail(new ApiError({ code: "module_unsupported", message: error.message })),
              HclParserUnavailable: (error) => Effect.die(error)
            })
          )
        const first = yield* scanned()
        const tool = first.modules.every(({ readAs }) => readAs === undefined)
          ? undefined
          : Option.getOrUndefined(yield* Effect.option(toolchain.resolve()))?.name
        const scan = tool === "terraform" ? yield* scanned(tool) : first
        return {
          status: scan.modules.length === 0 ? ("empty" as const) : ("ready" as const),
          sourceSnapshotId: snapshot.id,
          scopePath: snapshot.path,
          modules: scan.modules.map((module) => ({
            path: module.path,
            status: module.status,
            providerPackages: module.providerPackages,
            rootProviderRequirements: module.rootProviderRequirements,
            findings: module.findings
          }))
        }
      })

      return SnapshotReads.of({ file, modules })
    })
  )
}
