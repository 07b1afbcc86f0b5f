import type { FileSystem } from "effect"
import { Cache, Context, Data, Duration, Effect, Exit, Layer, Option, Path, Semaphore, SemVer } from "effect"
import type { ChildProcessSpawner } from "effect/process"
import { fileVersion } from "./KnownTools.ts"
import { currentPlatform, type ManagedTool, managedTools, type Platform } from "./ManagedTools.ts"
import { ReleaseMirror } from "./ReleaseMirror.ts"
import { type Tool, type ToolCandidate, toolExecutables, type ToolName, toolTitles } from "./Tool.ts"
import type { DownloadSettings, ToolchainSettings } from "./ToolchainSettings.ts"
import { downloadTool } from "./ToolDownload.ts"
import { ToolBroken, type ToolError, ToolMissing } from "./ToolErrors.ts"
import { probeTool } from "./ToolProbe.ts"
import { findOnPath } from "./ToolSearch.ts"

/** The exact version of the tool that applied a Capsule and must continue to, or that its execution profile requires. */
export interface ToolRequirement {
  readonly name?: ToolName | undefined
  readonly version?: string | undefined
}

// Cached by file, so that a tool replaced on disk while the service runs is probed again.
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
 * Finds the OpenTofu or Terraform that executes Runs. Order: the configured path; a managed version; `tofu` on PATH; `terraform`
 * on PATH; a managed download. Results are cached until the file changes.
 */
export class Toolchain extends Context.Service<
  Toolchain,
  {
    /**
     * With `require`, only a tool of that name and version is accepted, so a Capsule never silently changes its flavour.
     *
     * Fails with `ToolMissing` (nothing matches), `ToolBroken` (a tool was found but does not work; it is not skipped) or
     * `ToolDownloadFailed`. All three have a `remedy`.
     */
    readonly resolve: (require?: ToolRequirement) => Effect.Effect<Tool, ToolError>
  }
>()("svc/runner/toolchain/Toolchain") {
  /** `tools` is the folder for managed versions in the data folder. */
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

  /** A managed tool; an outdated version only if the desired release cannot be fetched now. */
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

  /** The managed tool at exactly that version; fetched if the settings allow it and do not pin another archive. */
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
