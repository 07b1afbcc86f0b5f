import { Clock, Effect, FileSystem, Option, Path, Schema, SemVer } from "effect"
import { managedFolder, type ManagedTool, type Platform } from "./ManagedTools.ts"
import { extractExecutable } from "./ReleaseArchive.ts"
import { ReleaseMirror } from "./ReleaseMirror.ts"
import { verifySignature } from "./ReleaseSignature.ts"
import { digestOf } from "./ReleaseSums.ts"
import { oldestVersions } from "./Tool.ts"
import type { DownloadSettings } from "./ToolchainSettings.ts"
import { type DownloadRefusal, ToolDownloadFailed } from "./ToolErrors.ts"
import { probeTool, sha256OfFile } from "./ToolProbe.ts"

/**
 * The record next to a managed tool that explains why svc trusts it. `keyFingerprint` is null if the operator set a digest
 * instead.
 */
export const DownloadReceipt = Schema.Struct({
  version: Schema.String,
  archive: Schema.String,
  archiveSha256: Schema.String,
  executableSha256: Schema.String,
  keyFingerprint: Schema.NullOr(Schema.String),
  fetchedAt: Schema.String
})
const encodeReceipt = Schema.encodeEffect(Schema.fromJsonString(DownloadReceipt))

const refuse = (reason: typeof DownloadRefusal.Type, message: string, remedy: string) =>
  new ToolDownloadFailed({ reason, message, remedy })

const trustedMaterial = Effect.fnUntraced(function* (setting: string) {
  if (setting.includes("-----BEGIN")) return setting
  const fileSystem = yield* FileSystem.FileSystem
  return yield* fileSystem
    .readFile(setting)
    .pipe(
      Effect.catchTag("PlatformError", () =>
        refuse("key", `The trusted key file ${setting} cannot be read.`, "Correct SVC_TOOL_MIRROR_KEY.")
      )
    )
})

/** The trusted signing key: the operator's key, or else the project's own key, identified by its fingerprint. */
const signingKey = Effect.fnUntraced(function* ({ officialKey, trustedKey }: DownloadSettings) {
  if (Option.isSome(trustedKey)) return { material: yield* trustedMaterial(trustedKey.value), fingerprint: undefined }
  const mirror = yield* ReleaseMirror
  return { material: yield* mirror.small(officialKey.url), fingerprint: officialKey.fingerprint }
})

const signedDigest = Effect.fnUntraced(function* (
  settings: DownloadSettings,
  release: URL,
  sumsFile: string,
  archive: string
) {
  const mirror = yield* ReleaseMirror
  const sums = yield* mirror.small(new URL(sumsFile, release))
  const signature = yield* mirror.small(new URL(`${sumsFile}.gpgsig`, release))
  const fingerprint = yield* verifySignature(sums, signature, yield* signingKey(settings))
  return { fingerprint, digest: yield* digestOf(sums, archive) }
})

/**
 * Fetches the release from the settings, verifies it, and stores it by the digest of its executable. It starts the executable
 * only after the signature over the checksums (or the digest from the settings) and the digest of the archive are verified.
 *
 * Fails with `ToolDownloadFailed`.
 */
export const downloadTool = Effect.fn("ToolDownload.download")(
  function* (settings: DownloadSettings, tools: string, platform: Platform, newest: Option.Option<ManagedTool>) {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const mirror = yield* ReleaseMirror
    const { version, trustedKey, archiveSha256 } = settings

    const floor = Option.match(newest, {
      onNone: () => oldestVersions.opentofu,
      onSome: (tool) => tool.expected.version
    })
    if (SemVer.isLessThan(SemVer.parseUnsafe(version), SemVer.parseUnsafe(floor))) {
      const message = `OpenTofu ${version} is older than ${floor}, which was managed before or is the oldest supported.`
      return yield* refuse("downgrade", message, "Set SVC_TOOL_VERSION to that version or a newer one.")
    }

    const release = new URL(`${settings.mirror.href.replace(/\/{1,8}$/, "")}/v${version}/`)
    const archive = `tofu_${version}_${platform.name}.tar.gz`

    // With a digest from the operator, no signature is needed.
    const isSigned = Option.isSome(trustedKey) || Option.isNone(archiveSha256)
    const signed = yield* Effect.transposeOption(
      isSigned ? Option.some(signedDigest(settings, release, `tofu_${version}_SHA256SUMS`, archive)) : Option.none()
    )
    const trusted = [...Option.toArray(archiveSha256), ...Option.toArray(Option.map(signed, ({ digest }) => digest))]

    yield* fileSystem.makeDirectory(tools, { recursive: true, mode: 0o700 })
    const scratch = yield* fileSystem.makeTempDirectoryScoped({ directory: tools, prefix: ".download-" })
    const file = path.join(scratch, archive)
    const fetched = yield* mirror.archive(new URL(archive, release), file)
    if (trusted.some((digest) => digest !== fetched.sha256)) {
      const message = `${archive} is not the released file: ${fetched.size} bytes with SHA-256 ${fetched.sha256}, expected ${trusted.join(" and ")}.`
      return yield* refuse("checksum", message, "It was cut short or changed; check the mirror, then try again.")
    }

    const content = path.join(scratch, "content")
    yield* fileSystem.makeDirectory(content)
    const executable = yield* extractExecutable(file, content, platform.executable)
    const tool = yield* probeTool({ path: executable, origin: "managed" }).pipe(
      Effect.catchTag("ToolBroken", (error) => refuse("archive", error.message, error.remedy))
    )
    if (tool.name !== "opentofu" || tool.version !== version) {
      const message = `The release ${version} of the mirror holds ${tool.name} ${tool.version}.`
      return yield* refuse("downgrade", message, "Check that the mirror holds the release that it names.")
    }

    const sha256 = yield* sha256OfFile(executable)
    const receipt = yield* encodeReceipt({
      version,
      archive,
      archiveSha256: fetched.sha256,
      executableSha256: sha256,
      keyFingerprint: Option.getOrNull(Option.map(signed, ({ fingerprint }) => fingerprint)),
      fetchedAt: new Date(yield* Clock.currentTimeMillis).toISOString()
    }).pipe(Effect.orDie)
    yield* fileSystem.writeFileString(path.join(content, "receipt.json"), `${receipt}\n`, { mode: 0o444 })
    yield* fileSystem.chmod(executable, 0o555)
    yield* Effect.scoped(Effect.flatMap(fileSystem.open(executable), (opened) => opened.sync))

    const folder = managedFolder(path, tools, version, platform, sha256)
    yield* fileSystem.makeDirectory(path.dirname(folder), { recursive: true, mode: 0o700 })
    // Another process may have stored the same content first; the folder's name is the content's digest.
    if (!(yield* fileSystem.exists(folder))) yield* fileSystem.rename(content, folder)
    yield* Effect.logInfo(`Downloaded OpenTofu ${version} and verified it`).pipe(
      Effect.annotateLogs({ mirror: settings.mirror.href, sha256, folder })
    )
    const stored: ManagedTool = {
      path: path.join(folder, platform.executable),
      origin: "managed",
      expected: { sha256, version }
    }
    return stored
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", (error) =>
    refuse(
      "storage",
      `The downloaded tool cannot be stored in the data folder (${error.reason._tag}).`,
      "Check the free space and the permissions of the data folder."
    )
  )
)
