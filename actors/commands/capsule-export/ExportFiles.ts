import { Context, Effect, FileSystem, Layer, Option, Redacted, Schema, Stream } from "effect"
import { extractBuildArchive } from "../../../runner/execution/BuildArchive.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { isAmbientFile, overrideDocument, stateFileName } from "../../../runner/execution/ModuleOverride.ts"
import { lockFileName, variableFile } from "../../../runner/execution/ModulePreparation.ts"
import type { PlainFile } from "../../../runner/snapshot/PlainArchive.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { storedBuild } from "../../ledger/build/BuildColumns.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { manifestPath, repositoryPathOf } from "../../ledger/source/SnapshotManifest.ts"
import { OmittedJson } from "../../ledger/source/SourceRow.ts"
import type { ExportContents, ExportSubject } from "./ExportContents.ts"
import { exportOverrideFileName, exportReadme, inputsFileName } from "./ExportReadme.ts"

const AnyJson = jsonText(Schema.Json)
const text = (written: string) => new TextEncoder().encode(written)
const json = (value: Schema.Json) => text(`${AnyJson.write(value)}\n`)

/** Folder in the archive that contains the commit. */
const tree = "module"

/** Files of the root module, keyed by name. */
type RootFiles = ReadonlyMap<string, Omit<PlainFile, "path">>

/** Returns the files that svc adds to the root module. They replace repository files of the same name. */
const rootFiles = ({ capsule }: ExportSubject, { blocks, hasBackend, inputs, state }: ExportContents): RootFiles => {
  const files = new Map<string, Omit<PlainFile, "path">>()
  files.set(stateFileName, { mode: 0o600, bytes: Redacted.value(state) })
  if (capsule.provider_lock !== null) files.set(lockFileName, { mode: 0o644, bytes: text(capsule.provider_lock) })
  if (Object.keys(inputs.values).length > 0)
    files.set(inputsFileName, { mode: 0o600, bytes: text(variableFile(inputs.values)) })
  if (hasBackend || blocks.length > 0)
    files.set(exportOverrideFileName, { mode: 0o644, bytes: json(overrideDocument(blocks)) })
  return files
}

/**
 * Returns true if the export omits a file of the commit: the manifest, files that Runs never use, and files that svc replaces.
 */
const staysOut = ({ capsule, snapshot }: ExportSubject, replaced: RootFiles) => {
  const prefix = capsule.module_path === "." ? "" : `${capsule.module_path}/`
  return (path: string): boolean => {
    if (repositoryPathOf(snapshot, path) === manifestPath) return true
    if (!path.startsWith(prefix)) return false
    const [name = "", ...below] = path.slice(prefix.length).split("/")
    return isAmbientFile(name) || (below.length === 0 && replaced.has(name))
  }
}

/** The files of an export. */
export class ExportFiles extends Context.Service<
  ExportFiles,
  {
    /** Streams all files below one folder. Keeps one file in memory at a time. A damaged file aborts the stream. */
    readonly of: (folder: string, subject: ExportSubject, contents: ExportContents) => Stream.Stream<PlainFile>
  }
>()("svc/actors/commands/capsule-export/ExportFiles") {
  static readonly layer = Layer.effect(
    ExportFiles,
    Effect.gen(function* () {
      const snapshots = yield* SnapshotStore
      const builds = yield* BuildStore
      const fileSystem = yield* FileSystem.FileSystem

      /** Unpacks the source build of the last apply for the duration of the download. */
      const buildFiles = Effect.fnUntraced(function* ({ state }: ExportSubject) {
        const build = storedBuild(state)
        const archive = build === undefined ? Option.none() : yield* builds.find(build)
        if (Option.isNone(archive)) return []
        const folder = yield* snapshots.temporaryFolder
        yield* extractBuildArchive(archive.value, folder)
        const found: Array<{ readonly path: string; readonly file: string; readonly mode: 0o644 | 0o755 }> = []
        for (const path of yield* fileSystem.readDirectory(folder, { recursive: true })) {
          const file = `${folder}/${path}`
          const info = yield* fileSystem.stat(file)
          if (info.type === "File") found.push({ path, file, mode: (info.mode & 0o100) === 0 ? 0o644 : 0o755 })
        }
        return found
      })

      const readme = (subject: ExportSubject, contents: ExportContents, hasBuild: boolean, replaced: RootFiles) => {
        const { capsule, snapshot, state } = subject
        return exportReadme({
          capsule: capsule.name,
          isReleased: capsule.status === "released",
          folder: capsule.module_path === "." ? tree : `${tree}/${capsule.module_path}`,
          source: { url: snapshot.url, ref: snapshot.ref, commit: snapshot.resolved_commit },
          tool: { name: capsule.tool_name ?? undefined, version: contents.toolVersion },
          isPartial: state.partial === 1,
          toSupply: contents.inputs.toSupply,
          providers: contents.providers,
          hasInputs: replaced.has(inputsFileName),
          hasLock: replaced.has(lockFileName),
          hasOverride: replaced.has(exportOverrideFileName),
          hasBuild,
          omitted: OmittedJson.read(snapshot.omitted).map(({ path }) => path)
        })
      }

      const of = (folder: string, subject: ExportSubject, contents: ExportContents) =>
        Stream.unwrap(
          Effect.gen(function* () {
            const { capsule, snapshot } = subject
            const built = yield* buildFiles(subject)
            const replaced = rootFiles(subject, contents)
            const isOut = staysOut(subject, replaced)
            const isBuilt = new Set(built.map(({ path }) => path))
            const below = (path: string) => `${folder}/${tree}/${path}`
            const root = capsule.module_path === "." ? "" : `${capsule.module_path}/`
            const begin: PlainFile = {
              path: `${folder}/README.md`,
              mode: 0o644,
              bytes: text(readme(subject, contents, built.length > 0, replaced))
            }
            const own = [...replaced].map(([name, file]): PlainFile => ({ ...file, path: below(`${root}${name}`) }))
            const committed = snapshots.files(snapshot.archive_digest).pipe(
              Stream.filter(({ path }) => !isOut(path) && !isBuilt.has(path)),
              Stream.map(
                ({ bytes, executable, path }): PlainFile => ({
                  path: below(path),
                  mode: executable ? 0o755 : 0o644,
                  bytes
                })
              )
            )
            const made = Stream.fromIterable(built.filter(({ path }) => !isOut(path))).pipe(
              Stream.mapEffect(({ file, mode, path }) =>
                Effect.map(fileSystem.readFile(file), (bytes): PlainFile => ({ path: below(path), mode, bytes }))
              )
            )
            return Stream.fromArray([begin, ...own]).pipe(Stream.concat(committed), Stream.concat(made))
          })
        ).pipe(
          Stream.tapError((error) => Effect.logError("An export was cut off", error)),
          Stream.orDie
        )

      return ExportFiles.of({ of })
    })
  )
}
