import {
  Cache,
  Clock,
  Context,
  Data,
  Duration,
  Effect,
  Exit,
  FileSystem,
  Layer,
  Option,
  Path,
  Result,
  Schema,
  Semaphore,
  SemVer,
  Stream
} from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { currentPlatform, managedFolder, type ManagedTool, managedTools, type Platform } from "./ManagedTools.ts"
import { ReleaseMirror } from "./ReleaseMirror.ts"
import { oldestVersions, type Tool, type ToolCandidate, toolExecutables, type ToolName, toolTitles } from "./Tool.ts"
import type { DownloadSettings, ToolchainSettings } from "./ToolchainSettings.ts"
import { type DownloadRefusal, ToolBroken, ToolDownloadFailed, type ToolError, ToolMissing } from "./ToolErrors.ts"
import { findOnPath } from "./ToolSearch.ts"
import { extractExecutable } from "./ReleaseArchive.ts"
import { verifySignature } from "./ReleaseSignature.ts"
import { digestOf } from "./ReleaseSums.ts"
import { createHash } from "node:crypto"
import { devNull } from "node:os"
import { dirname } from "node:path"
import { goGcSettings } from "./GoGcSettings.ts"
import { stat } from "node:fs/promises"
import { hasProperty } from "effect/Predicate"
import type { ToolIdentity } from "../../schema/records/Run.ts"

const most = 32

/**
 * Returns a value that changes whenever the file changes, even if the file keeps its date and size. Fails with the system's
 * name for the error, such as `ENOENT`.
 */
const fileVersion = (path: string): Effect.Effect<string, string> =>
  Effect.tryPromise({
    try: () => stat(path, { bigint: true }),
    catch: (error) => (hasProperty(error, "code") ? String(error.code) : "unknown")
  }).pipe(Effect.map(({ ctimeNs, dev, ino, mtimeNs, size }) => [path, dev, ino, size, mtimeNs, ctimeNs].join(":")))

const makeKnownTools = () => {
  const known = new Map<string, ToolIdentity>()
  return {
    /** Returns the cached identity of an executable, or the result of `ask`. Does not cache failures. */
    identityOf: Effect.fnUntraced(function* <E, R>(path: string, ask: Effect.Effect<ToolIdentity, E, R>) {
      const version = yield* Effect.option(fileVersion(path))
      if (Option.isNone(version)) return yield* ask
      const answer = known.get(version.value) ?? (yield* ask)
      // Prefer the result of another caller, because that caller may have started the tool in the meantime.
      const found = known.get(version.value) ?? answer
      // Move the entry to the end, because the cache keeps the most recently used entries, in order of last use.
      known.delete(version.value)
      known.set(version.value, found)
      for (const oldest of known.keys()) {
        if (known.size <= most) break
        known.delete(oldest)
      }
      return found
    })
  }
}

/**
 * Identities of this machine's tools. All servers in this process share them, because starting a tool takes longer than
 * reading any other fact about the machine.
 */
const KnownTools = Context.Reference("svc/runner/toolchain/KnownTools", { defaultValue: makeKnownTools })

const patience = "30 seconds"
const longestAnswer = 65_536

const VersionAnswer = Schema.fromJsonString(Schema.Struct({ terraform_version: Schema.String }))
const decodeVersion = Schema.decodeUnknownOption(VersionAnswer)
// Matches the plain output. Only this output distinguishes the tools, because the `-json` output of OpenTofu uses Terraform's
// field names.
const firstLine = /^(OpenTofu|Terraform) v(\S+)$/m

const broken = (path: string, message: string, remedy: string) => new ToolBroken({ path, message, remedy })

const sha256OfFile = Effect.fnUntraced(function* (path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fileSystem.stream(path), (chunk) => Effect.sync(() => hash.update(chunk)))
  return hash.digest("hex")
})

const answer = Effect.fnUntraced(function* (path: string, args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(path, args, {
      // The tool fails if it may not read its working folder, e.g. if root starts `svc doctor` as another user.
      cwd: dirname(path),
      env: { ...goGcSettings, CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: devNull },
      extendEnv: false,
      stdin: "ignore",
      stderr: "ignore"
    })
  )
  const text = yield* Stream.runFold(
    Stream.decodeText(handle.stdout),
    () => "",
    (sofar, piece) => (sofar + piece).slice(0, longestAnswer)
  )
  return { exitCode: Number(yield* handle.exitCode), text }
}, Effect.scoped)

/** Reads the tool's name from its plain output, and checks that both outputs contain the same version. */
const askTool = Effect.fnUntraced(function* (path: string) {
  const plain = yield* answer(path, ["version"])
  const json = yield* answer(path, ["version", "-json"])
  const [, title, version = ""] = firstLine.exec(plain.text) ?? []
  const decoded = decodeVersion(json.text)
  const agreed = Option.exists(decoded, (found) => found.terraform_version === version)
  const name: ToolName | undefined =
    title === toolTitles.opentofu ? "opentofu" : title === toolTitles.terraform ? "terraform" : undefined
  if (plain.exitCode !== 0 || json.exitCode !== 0 || !agreed || name === undefined) {
    const message = `${path} did not answer "version" as OpenTofu or Terraform does (exit codes ${plain.exitCode} and ${json.exitCode}).`
    return yield* broken(path, message, "Reinstall the tool, or point SVC_TOOL at a working one.")
  }
  return { name, version }
})

/**
 * Identifies a candidate by starting it with `version` and `version -json`, unless this process has a cached result for the file.
 * A managed file must first match the digest in its path. Fails with `ToolBroken`.
 */
const probeTool = Effect.fn("ToolProbe.probe")(
  function* (candidate: ToolCandidate) {
    const { path, origin, expected } = candidate
    if (expected !== undefined) {
      const digest = yield* sha256OfFile(path)
      if (digest !== expected.sha256) {
        const message = `The managed tool ${path} was changed: its SHA-256 is ${digest}, expected ${expected.sha256}.`
        return yield* broken(path, message, "Find out who changed it, then delete its folder to have it fetched again.")
      }
    }
    const { name, version } = yield* (yield* KnownTools).identityOf(path, askTool(path))
    const parsed = Result.getOrUndefined(SemVer.parse(version))
    const oldest = oldestVersions[name]
    if (parsed === undefined || SemVer.isLessThan(parsed, SemVer.parseUnsafe(oldest))) {
      const message = `${path} is ${toolTitles[name]} ${version}; the oldest supported version is ${oldest}.`
      return yield* broken(path, message, `Install ${toolTitles[name]} ${oldest} or newer.`)
    }
    if (expected !== undefined && (name !== "opentofu" || version !== expected.version)) {
      const message = `The managed tool ${path} is ${toolTitles[name]} ${version}, expected OpenTofu ${expected.version}.`
      return yield* broken(path, message, "Delete its folder to have it fetched again.")
    }
    return { name, version, path, origin } satisfies Tool
  },
  (effect, { path }) =>
    effect.pipe(
      Effect.catchTag("PlatformError", (error) =>
        broken(
          path,
          `${path} cannot be started (${error.reason._tag}).`,
          "Check that the file exists and is executable."
        )
      ),
      Effect.timeoutOrElse({
        duration: patience,
        orElse: () =>
          broken(path, `${path} did not answer "version" within ${patience}.`, "Check what hangs: run it by hand.")
      })
    )
)

/**
 * Contents of the file that is stored next to a managed tool and records why svc trusts the tool. `keyFingerprint` is null
 * if the operator configured a digest instead.
 */
const DownloadReceipt = Schema.Struct({
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

/**
 * Returns the trusted signing key: the operator's key or, if there is none, the project's key, which is identified by its
 * fingerprint.
 */
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
 * Downloads the configured release, verifies it, and stores it under the digest of its executable. Starts the executable only
 * after verifying the signature of the checksums (or the configured digest) and the digest of the archive. Fails with
 * `ToolDownloadFailed`.
 */
const downloadTool = Effect.fn("ToolDownload.download")(
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

    // If the operator configured a digest, no signature is needed.
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
    // Skip the move if another process has stored the same content first. The folder is named after the digest of the content.
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

/**
 * Requirements for a tool: the exact version that applied a Capsule and must apply it again in the future, and the tool that
 * the Capsule's execution profile requires.
 */
export interface ToolRequirement {
  readonly name?: ToolName | undefined
  readonly version?: string | undefined
}

// Cache key of a file. If a tool is replaced while svc runs, the key changes and svc identifies the tool again.
class FileIdentity extends Data.Class<{
  readonly candidate: ToolCandidate
  readonly version: string
}> {}

const titleOf = (require: ToolRequirement | undefined): string => {
  const name = require?.name === undefined ? "OpenTofu or Terraform" : toolTitles[require.name]
  return require?.version === undefined ? name : `${name} ${require.version}`
}

const meets = (tool: Tool, require: ToolRequirement | undefined): boolean =>
  (require?.name === undefined || tool.name === require.name) &&
  (require?.version === undefined || tool.version === require.version)

const installRemedy =
  "Install OpenTofu (or Terraform) on PATH, set SVC_TOOL to its path, or allow the managed download with SVC_TOOL_DOWNLOAD=on."

/**
 * Finds the OpenTofu or Terraform that executes Runs. Tries, in this order: the configured path; a managed version; `tofu` on
 * PATH; `terraform` on PATH; a managed download. Caches results until the file changes.
 */
export class Toolchain extends Context.Service<
  Toolchain,
  {
    /**
     * Finds the tool. If `require` is given, accepts only a tool with that name and version, so that a Capsule never
     * silently switches tools. Fails with `ToolMissing` (nothing matches), `ToolBroken` (a tool was found but does not work;
     * it is not skipped) or `ToolDownloadFailed`. All three have a `remedy`.
     */
    readonly resolve: (require?: ToolRequirement) => Effect.Effect<Tool, ToolError>
  }
>()("svc/runner/toolchain/Toolchain") {
  /** `tools` is the folder, in the data folder, that contains the managed versions. */
  static readonly layer = (settings: ToolchainSettings, tools: string) =>
    Layer.effect(Toolchain, make(settings, tools)).pipe(Layer.provide(ReleaseMirror.layer))
}

const make = Effect.fnUntraced(function* (settings: ToolchainSettings, tools: string) {
  const path = yield* Path.Path
  const services = yield* Effect.context<
    FileSystem.FileSystem | Path.Path | ChildProcessSpawner.ChildProcessSpawner | ReleaseMirror
  >()
  const downloading = yield* Semaphore.make(1)
  const platform = Option.fromUndefinedOr(currentPlatform(process.platform, process.arch))

  const probes = yield* Cache.makeWith(
    (identity: FileIdentity) => Effect.provideContext(probeTool(identity.candidate), services),
    { capacity: 32, timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero) }
  )

  const probe = Effect.fnUntraced(function* (candidate: ToolCandidate) {
    const { path: file } = candidate
    const version = yield* fileVersion(file).pipe(
      Effect.mapError(
        (code) =>
          new ToolBroken({
            path: file,
            message: `${file} cannot be looked at (${code}).`,
            remedy: candidate.origin === "configured" ? "Correct SVC_TOOL." : "Check the permissions of its folder."
          })
      )
    )
    return yield* Cache.get(probes, new FileIdentity({ candidate, version }))
  })

  const configured = Effect.fnUntraced(function* (setting: string, require: ToolRequirement | undefined) {
    const tool = yield* probe({ path: path.resolve(setting), origin: "configured" })
    if (meets(tool, require)) return tool
    return yield* new ToolMissing({
      message: `This Capsule needs ${titleOf(require)}, but SVC_TOOL names ${toolTitles[tool.name]} ${tool.version}.`,
      remedy: `Point SVC_TOOL at ${titleOf(require)}, or set it to auto and install both.`
    })
  })

  const listManaged = (present: Platform) =>
    managedTools(tools, present).pipe(
      Effect.mapError(
        (error) =>
          new ToolBroken({
            path: tools,
            message: `The folder of managed tools cannot be read (${error.reason._tag}).`,
            remedy: "Check the permissions of the data folder."
          })
      )
    )

  const fetched = (present: Platform, download: DownloadSettings) =>
    Semaphore.withPermits(
      downloading,
      1
    )(
      Effect.gen(function* () {
        const [newest] = yield* listManaged(present)
        if (newest !== undefined && isCurrent(newest, download)) return newest
        return yield* downloadTool(download, tools, present, Option.fromUndefinedOr(newest))
      })
    )

  /** Returns a managed tool. Uses an outdated version only if the requested release cannot currently be downloaded. */
  const managed = Effect.fnUntraced(function* (present: Platform) {
    const [newest] = yield* listManaged(present)
    if (newest === undefined) return Option.none<Tool>()
    const release = Option.filter(settings.download, (download) => !isCurrent(newest, download))
    if (Option.isNone(release)) return Option.some(yield* probe(newest))
    const newer = yield* fetched(present, release.value).pipe(
      Effect.catchIf(
        (error) => error._tag === "ToolDownloadFailed" && error.reason === "unreachable",
        (error) =>
          Effect.as(
            Effect.logWarning(`Staying with OpenTofu ${newest.expected.version}: ${error.message} ${error.remedy}`),
            newest
          )
      )
    )
    return Option.some(yield* probe(newer))
  })

  /**
   * Returns the managed tool with exactly the given version. Downloads the tool if the settings allow downloads and do not
   * pin another archive.
   */
  const managedVersion = Effect.fnUntraced(function* (present: Platform, version: string, mayFetch: boolean) {
    const found = (yield* listManaged(present)).find(({ expected }) => expected.version === version)
    if (found !== undefined) return Option.some(yield* probe(found))
    const download = Option.filter(settings.download, ({ archiveSha256 }) => Option.isNone(archiveSha256))
    if (!mayFetch || Option.isNone(download)) return Option.none<Tool>()
    const fetch = downloadTool({ ...download.value, version }, tools, present, Option.none())
    return Option.some(yield* probe(yield* Semaphore.withPermits(downloading, 1)(fetch)))
  })

  const search = Effect.fnUntraced(function* (require: ToolRequirement | undefined) {
    const allows = (name: ToolName) => require?.name === undefined || require.name === name
    const version = require?.version
    if (version !== undefined) {
      const present = allows("opentofu") ? platform : Option.none<Platform>()
      const kept = Option.isNone(present) ? Option.none<Tool>() : yield* managedVersion(present.value, version, false)
      if (Option.isSome(kept)) return kept.value
      for (const name of ["opentofu", "terraform"] as const) {
        const candidate = allows(name)
          ? yield* findOnPath(settings.searchPath, toolExecutables[name])
          : Option.none<ToolCandidate>()
        if (Option.isNone(candidate)) continue
        const tool = yield* probe(candidate.value)
        if (meets(tool, require)) return tool
      }
      const fetched = Option.isNone(present) ? Option.none<Tool>() : yield* managedVersion(present.value, version, true)
      if (Option.isSome(fetched)) return fetched.value
      return yield* new ToolMissing({
        message: `${titleOf(require)} is not configured, managed or on PATH.`,
        remedy: `Install exactly this version, or set SVC_TOOL to its path.`
      })
    }
    if (allows("opentofu") && Option.isSome(platform)) {
      const tool = yield* managed(platform.value)
      if (Option.isSome(tool)) return tool.value
    }
    for (const name of ["opentofu", "terraform"] as const) {
      if (!allows(name)) continue
      const candidate = yield* findOnPath(settings.searchPath, toolExecutables[name])
      if (Option.isNone(candidate)) continue
      const tool = yield* probe(candidate.value)
      if (allows(tool.name)) return tool
    }
    if (allows("opentofu") && Option.isSome(settings.download) && Option.isSome(platform)) {
      return yield* probe(yield* fetched(platform.value, settings.download.value))
    }
    const wanted = titleOf(require)
    return yield* new ToolMissing({
      message: `No ${wanted} is configured, managed or on PATH.`,
      remedy: require?.name === "terraform" ? "Install Terraform on PATH, or set SVC_TOOL to its path." : installRemedy
    })
  })

  const resolve = Effect.fn("Toolchain.resolve")((require?: ToolRequirement) =>
    Option.match(settings.tool, {
      onSome: (setting) => configured(setting, require),
      onNone: () => search(require)
    }).pipe(Effect.provideContext(services))
  )

  return Toolchain.of({ resolve })
})

const isCurrent = (tool: ManagedTool, download: DownloadSettings) =>
  SemVer.isGreaterThanOrEqualTo(SemVer.parseUnsafe(tool.expected.version), SemVer.parseUnsafe(download.version))
