import { createHash } from "node:crypto"
import { devNull } from "node:os"
import { Effect, FileSystem, Option, Result, Schema, SemVer, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { KnownTools } from "./KnownTools.ts"
import { patientCollector } from "./PatientCollector.ts"
import { oldestVersions, type Tool, type ToolCandidate, type ToolName, toolTitles } from "./Tool.ts"
import { ToolBroken } from "./ToolErrors.ts"

const patience = "30 seconds"
const longestAnswer = 65_536

const VersionAnswer = Schema.fromJsonString(Schema.Struct({ terraform_version: Schema.String }))
const decodeVersion = Schema.decodeUnknownOption(VersionAnswer)
// OpenTofu's `-json` output uses Terraform's field names; only the plain output distinguishes the two.
const firstLine = /^(OpenTofu|Terraform) v(\S+)$/m

const broken = (path: string, message: string, remedy: string) => new ToolBroken({ path, message, remedy })

export const sha256OfFile = Effect.fnUntraced(function* (path: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const hash = createHash("sha256")
  yield* Stream.runForEach(fileSystem.stream(path), (chunk) => Effect.sync(() => hash.update(chunk)))
  return hash.digest("hex")
})

const answer = Effect.fnUntraced(function* (path: string, args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(
    ChildProcess.make(path, args, {
      env: { ...patientCollector, CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: devNull },
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

/** The plain output contains the tool's name, and both outputs agree on its version. */
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
 * Starts the candidate with `version` and `version -json` and identifies the tool, unless this process has a cached result for
 * the file. A managed file must first match the digest in its path. Fails with `ToolBroken`.
 */
export const probeTool = Effect.fn("ToolProbe.probe")(
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
