import {
  Clock,
  Context,
  DateTime,
  Duration,
  Effect,
  FileSystem,
  Layer,
  Option,
  Redacted,
  Result,
  Schema,
  Stream
} from "effect"
import { SqlClient } from "effect/sql"
import { extractBuildArchive } from "../../../runner/execution/BuildArchive.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { isAmbientFile, overrideDocument, stateFileName } from "../../../runner/execution/ModuleOverride.ts"
import { lockFileName, variableFile } from "../../../runner/execution/ModulePreparation.ts"
import { type PlainFile, tarGz } from "../../../runner/snapshot/PlainArchive.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { ExportRequest } from "../../../schema/api/ExportsApi.ts"
import { type ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { CapsuleExport } from "../../../schema/records/CapsuleExport.ts"
import { type CapsuleId, StateVersionId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { refuseConflictingRun } from "../../ledger/capsule/ConflictingRuns.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { StoredCommits } from "../../inputs/git/StoredCommits.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { StateVersions } from "../../ledger/state/StateVersions.ts"
import { type ExportContents, ExportContentsOf, type ExportSubject } from "./ExportContents.ts"
import { providedService } from "../../base/Provided.ts"
import { newId } from "../../base/Identity.ts"
import { jsonText } from "../../base/database/StoredRecord.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { storedBuild } from "../../ledger/build/BuildColumns.ts"
import { manifestPath, repositoryPathOf } from "../../ledger/source/SnapshotManifest.ts"
import { OmittedJson } from "../../ledger/source/SourceRow.ts"
import { exportOverrideFileName, exportReadme, inputsFileName } from "./ExportReadme.ts"

/**
 * The permission that a download link grants. The permission is not stored but encoded and authenticated in the link, so
 * links survive a server restart. The operation history records each use.
 */
interface LinkSubject {
  /** The credential that requested the link. */
  readonly holder: string
  readonly capsuleId: CapsuleId
  readonly stateVersionId: StateVersionId
}

const purpose = "capsule-export"
const separator = "."

/** Identifies the link in the operation history. */
const LinkId = Schema.String.check(Schema.isPattern(/^exp_[a-z2-7]{24}$/)).pipe(Schema.brand("svc/ExportLinkId"))
type ExportLinkId = typeof LinkId.Type

const sealedText = ({ capsuleId, holder, stateVersionId }: LinkSubject, expires: number, id: ExportLinkId) =>
  [holder, capsuleId, stateVersionId, expires, id].join("\n")

/** Creates a link for the Capsule's current state. `expires` is in milliseconds since the Unix epoch. */
const newLink = Effect.fnUntraced(function* (subject: LinkSubject) {
  const vault = yield* Vault
  const expires = (yield* Clock.currentTimeMillis) + Duration.toMillis(retention.capsuleExport.after)
  const id = yield* newId(LinkId, "exp")
  const mac = yield* vault.mac(purpose, sealedText(subject, expires, id))
  return { link: [expires, subject.stateVersionId, id, mac].join(separator), expires }
})

const Parts = Schema.Tuple([Schema.NumberFromString, StateVersionId, LinkId, Schema.String])
const decodeParts = Schema.decodeUnknownResult(Parts)

const stateMoved = failedPrecondition("The state of the Capsule has changed since this export. Export it again.")

const linkUsed = failedPrecondition("The link was used. Export the Capsule again.")

/** Returns the id of a link. Fails if the link has expired or belongs to another subject. */
const checkLink = Effect.fnUntraced(function* (
  subject: LinkSubject,
  link: string
): Effect.fn.Return<ExportLinkId, ApiError, Vault> {
  const vault = yield* Vault
  const parts = decodeParts(link.split(separator))
  if (Result.isFailure(parts)) return yield* notFound("Export")
  const [expires, stateVersionId, id, mac] = parts.success
  const isGenuine = yield* vault.verifyMac(purpose, sealedText({ ...subject, stateVersionId }, expires, id), mac)
  if (!isGenuine) return yield* notFound("Export")
  if ((yield* Clock.currentTimeMillis) >= expires) {
    return yield* failedPrecondition("The link has ended. Export the Capsule again.")
  }
  if (stateVersionId !== subject.stateVersionId) {
    return yield* stateMoved
  }
  return id
})

/** The Capsule to export, the person who requested the export, and the credential that the person used. */
export interface Exporting {
  readonly context: CommandContext
  readonly holder: string
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
}

export interface ExportArchive {
  readonly fileName: string
  readonly bytes: Stream.Stream<Uint8Array>
}

const AnyJson = jsonText(Schema.Json)
const text = (written: string) => new TextEncoder().encode(written)
const json = (value: Schema.Json) => text(`${AnyJson.write(value)}\n`)

/** Folder in the archive that contains the commit. */
const moduleFolder = "module"

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
class ExportFiles extends Context.Service<
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
          folder: capsule.module_path === "." ? moduleFolder : `${moduleFolder}/${capsule.module_path}`,
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
            const below = (path: string) => `${folder}/${moduleFolder}/${path}`
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

/** Exports a Capsule for an owner. Writes only to the operation history. */
export class CapsuleExports extends Context.Service<
  CapsuleExports,
  {
    /** Records the export and returns a link to it. */
    readonly grant: (by: Exporting, request: ExportRequest) => Effect.Effect<CapsuleExport, ApiError>
    /** Returns the archive for a link. The download is recorded before the first byte is sent. */
    readonly download: (by: Exporting, link: string) => Effect.Effect<ExportArchive, ApiError>
  }
>()("svc/actors/commands/capsule-export/CapsuleExports") {
  static readonly layer = Layer.effect(
    CapsuleExports,
    Effect.suspend(() => make)
  ).pipe(Layer.provide(ExportContentsOf.layer), Layer.provide(ExportFiles.layer), Layer.provide(StoredCommits.layer))
}

const nameOf = ({ capsule }: ExportSubject) => `svc-export-${capsule.slug}`

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const sources = yield* SourceStore
  const states = yield* StateVersions
  const commits = yield* StoredCommits
  const contents = yield* ExportContentsOf
  const files = yield* ExportFiles
  const audit = yield* Audit
  const killPoint = yield* KillPoint

  /** Returns the Capsule's current state, commit and configuration. Fails while a Run may change them. */
  const subjectOf = Effect.fnUntraced(function* ({ capsuleId, workspaceId }: Exporting) {
    const capsule = yield* capsules.find(capsuleId)
    if (capsule === undefined || capsule.workspace_id !== workspaceId) return yield* notFound("Capsule")
    yield* refuseConflictingRun(capsuleId)
    if (capsule.status === "destroyed") {
      return yield* failedPrecondition("The Capsule was destroyed: there is nothing left to go on with.")
    }
    const state = yield* states.find(capsule.current_state_version_id)
    const snapshot = yield* sources.findSnapshot(capsule.adopted_snapshot_id)
    if (state === undefined || snapshot === undefined) {
      return yield* failedPrecondition(
        "Nothing of the Capsule was applied here yet, so there is nothing to export. A state that was taken over is still where it was uploaded from."
      )
    }
    return { capsule, state, snapshot } satisfies ExportSubject
  })

  /** Fetches a lost or damaged commit again, with the authority of the person who exports the Capsule. */
  const heal = ({ context, workspaceId }: Exporting, { snapshot }: ExportSubject) =>
    commits
      .ensure(
        {
          workspace_id: workspaceId,
          source_id: snapshot.source_id,
          created_by: context.actor.subject ?? null,
          trigger_kind: "user"
        },
        snapshot
      )
      .pipe(Effect.mapError(({ message }) => failedPrecondition(message)))

  const record = (
    action: "capsule.export" | "capsule.export_download",
    by: Exporting,
    subject: ExportSubject,
    used?: ExportLinkId
  ) =>
    audit.append({
      workspaceId: by.workspaceId,
      actor: by.context.actor,
      action,
      target: { kind: "capsule", id: by.capsuleId },
      capsuleId: by.capsuleId,
      data: {
        stateVersionId: subject.state.id,
        generation: subject.state.generation,
        digest: subject.state.digest,
        resolvedCommit: subject.snapshot.resolved_commit,
        ...(used === undefined ? {} : { exportId: used })
      },
      requestId: by.context.requestId
    })

  /** Returns true if the Capsule still has the same state, commit and configuration as the archive. */
  const isSame = (seen: ExportSubject, current: ExportSubject) =>
    seen.state.id === current.state.id &&
    seen.snapshot.id === current.snapshot.id &&
    seen.capsule.install_config_id === current.capsule.install_config_id

  const grant = Effect.fn("CapsuleExports.grant")(function* (by: Exporting, { confirm }: ExportRequest) {
    const confirmed = Effect.gen(function* () {
      const subject = yield* subjectOf(by)
      return confirm === subject.capsule.name
        ? subject
        : yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    })
    const seen = yield* confirmed
    yield* heal(by, seen)
    const { inputs } = yield* contents.settings(seen)
    const granted = yield* Effect.gen(function* () {
      const subject = yield* confirmed
      if (!isSame(seen, subject)) return yield* stateMoved
      const { capsuleId, holder } = by
      const { expires, link } = yield* newLink({ holder, capsuleId, stateVersionId: subject.state.id })
      yield* record("capsule.export", by, subject)
      yield* killPoint("export.granting")
      return CapsuleExport.make({
        capsuleId,
        stateVersionId: subject.state.id,
        resolvedCommit: subject.snapshot.resolved_commit,
        fileName: `${nameOf(subject)}.tar.gz`,
        link: `/api/v1/capsules/${capsuleId}/exports/${link}`,
        expiresAt: DateTime.formatIso(DateTime.makeUnsafe(expires)),
        inputsToSupply: inputs.toSupply.map(({ name }) => name)
      })
    }).pipe(transaction(sql))
    yield* killPoint("export.granted")
    return granted
  })

  const isUsed = Effect.fnUntraced(function* (capsuleId: CapsuleId, value: ExportLinkId) {
    const now = yield* DateTime.now
    // Searches only recent events, because older links have expired.
    const since = DateTime.formatIso(DateTime.subtractDuration(now, retention.capsuleExport.after))
    return yield* audit.names({ capsuleId, action: "capsule.export_download", since, value })
  })

  const download = Effect.fn("CapsuleExports.download")(function* (by: Exporting, link: string) {
    const { capsuleId, holder } = by
    const checked = Effect.gen(function* () {
      const subject = yield* subjectOf(by)
      const id = yield* checkLink({ holder, capsuleId, stateVersionId: subject.state.id }, link)
      if (yield* isUsed(capsuleId, id)) return yield* linkUsed
      return { id, subject }
    })
    const { subject } = yield* checked
    yield* heal(by, subject)
    const read = yield* contents.read(subject)
    yield* Effect.gen(function* () {
      const current = yield* checked
      if (!isSame(subject, current.subject)) return yield* stateMoved
      yield* record("capsule.export_download", by, current.subject, current.id)
    }).pipe(transaction(sql))
    yield* killPoint("export.sending")
    const at = yield* DateTime.now
    return {
      fileName: `${nameOf(subject)}.tar.gz`,
      bytes: tarGz(files.of(nameOf(subject), subject, read), DateTime.toDate(at))
    }
  })

  return yield* providedService(CapsuleExports, { grant, download })
})
