import { mkdir, rm, writeFile } from "node:fs/promises"
import { join, posix } from "node:path"
import { Context, Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import type { ToolCheck } from "../../schema/records/StaticReview.ts"
import type { OpenSandbox } from "../sandbox/levels/Level.ts"
import { Sandbox } from "../sandbox/Sandbox.ts"
import { SnapshotStore } from "../snapshot/SnapshotStore.ts"
import { Toolchain } from "../toolchain/Toolchain.ts"
import { moduleFolder, sandboxPaths } from "./RunFolder.ts"
import { baseEnvironment, toolEnvironment } from "./ToolEnvironment.ts"

/** A module to check. `obstacle` is the reason why it cannot be validated without its providers and modules. */
export interface CheckedModule {
  readonly path: string
  readonly obstacle: string | undefined
}

export interface ModuleChecks {
  readonly validation: ToolCheck
  readonly formatting: ToolCheck
}

/** Maximum time for one run of the tool. */
const patience = Duration.seconds(30)
const mostOutputBytes = 256 * 1024
const mostDetails = 20

const notRun = (reason: string): ToolCheck => ({ status: "not_run", reason })

const neither = (reason: string): ModuleChecks => ({ validation: notRun(reason), formatting: notRun(reason) })

const Validation = Schema.fromJsonString(
  Schema.Struct({
    valid: Schema.Boolean,
    diagnostics: Schema.Array(
      Schema.Struct({
        severity: Schema.String,
        summary: Schema.String,
        range: Schema.optional(
          Schema.Struct({ filename: Schema.String, start: Schema.Struct({ line: Schema.Number }) })
        )
      })
    )
  })
)
const decodeValidation = Schema.decodeUnknownOption(Validation)

const outputOf = (stream: Stream.Stream<Uint8Array, unknown>) =>
  Stream.runFold(
    stream,
    () => ({ parts: [] as ReadonlyArray<Uint8Array>, bytes: 0 }),
    ({ bytes, parts }, part) =>
      bytes > mostOutputBytes ? { parts, bytes } : { parts: [...parts, part], bytes: bytes + part.length }
  ).pipe(Effect.map(({ parts }) => Buffer.concat(parts).toString("utf8")))

/** Removes the tool's own folders, in which the commit's author could supply providers and modules. */
const withoutToolFolders = Effect.fnUntraced(function* (
  source: string,
  files: ReadonlyArray<{ readonly path: string }>
) {
  const folders = new Set(
    files.flatMap(({ path }) => {
      const segments = path.split("/")
      const at = segments.indexOf(".terraform")
      return at === -1 ? [] : [segments.slice(0, at + 1).join("/")]
    })
  )
  yield* Effect.promise(async () => {
    for (const folder of folders) await rm(join(source, folder), { recursive: true, force: true })
  })
})

/**
 * Uses the tool to check modules without executing them. Runs `fmt`, and `validate` if the module needs neither providers
 * nor other modules. The tool runs in the sandbox without network, inputs, credentials or state. Neither command reads data
 * sources or starts providers and provisioners.
 */
export class StaticChecks extends Context.Service<
  StaticChecks,
  {
    /** Returns the results for each module of the archive, by path. If a check cannot run, its result contains the reason. */
    readonly of: (
      archiveDigest: string,
      modules: ReadonlyArray<CheckedModule>
    ) => Effect.Effect<ReadonlyMap<string, ModuleChecks>>
  }
>()("svc/runner/execution/StaticChecks") {
  static readonly layer = Layer.effect(
    StaticChecks,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const snapshots = yield* SnapshotStore
  const toolchain = yield* Toolchain
  const sandbox = yield* Sandbox

  const opened = Effect.fnUntraced(function* (archiveDigest: string) {
    const { path: program } = yield* toolchain.resolve()
    const tree = yield* snapshots.open(archiveDigest)
    const root = join(yield* snapshots.temporaryFolder, "capsule")
    yield* Effect.promise(async () => {
      for (const folder of [sandboxPaths.home, sandboxPaths.temporary, sandboxPaths.settings]) {
        await mkdir(join(root, folder), { recursive: true, mode: 0o700 })
      }
      await writeFile(join(root, sandboxPaths.cliConfiguration), "")
    })
    yield* snapshots.extract(archiveDigest, join(root, sandboxPaths.source))
    yield* withoutToolFolders(join(root, sandboxPaths.source), tree.files)
    const readOnly = program.startsWith("/usr/") ? [] : [program]
    const box = yield* sandbox.open({ root, readOnly, temporary: sandboxPaths.temporary })
    return { box, program }
  })

  const run = Effect.fnUntraced(function* (
    { box, program }: { readonly box: OpenSandbox; readonly program: string },
    cwd: string,
    args: ReadonlyArray<string>
  ) {
    const started = yield* box.spawn({
      argv: [program, ...args],
      cwd,
      environment: { ...baseEnvironment(box), ...toolEnvironment(box.root) },
      network: false
    })
    const [output, , end] = yield* Effect.all(
      [outputOf(started.stdout), Stream.runDrain(started.stderr), started.end],
      {
        concurrency: "unbounded"
      }
    )
    return { output, code: end._tag === "exited" ? end.code : -1 }
  }, Effect.scoped)

  /** Returns the files that the tool would format differently, or `undefined` if it could not read all files. */
  const unformatted = (tool: Effect.Success<ReturnType<typeof opened>>) =>
    Effect.map(
      run(tool, sandboxPaths.source, ["fmt", "-check", "-list=true", "-write=false", "-recursive", "-no-color", "."]),
      ({ code, output }) =>
        code === 0 || code === 3
          ? output
              .split("\n")
              .map((line) => posix.normalize(line.trim()))
              .filter((path) => path !== ".")
          : undefined
    )

  const formattingOf = (path: string, files: ReadonlyArray<string> | undefined): ToolCheck => {
    if (files === undefined) return notRun("The tool cannot read every file of the commit.")
    const details = files.filter((file) => posix.dirname(file) === path).slice(0, mostDetails)
    return details.length === 0 ? { status: "passed" } : { status: "failed", details }
  }

  const validationOf = Effect.fnUntraced(function* (
    tool: Effect.Success<ReturnType<typeof opened>>,
    { obstacle, path }: CheckedModule
  ) {
    if (obstacle !== undefined) return notRun(obstacle)
    const { output } = yield* run(tool, moduleFolder(path), ["validate", "-json", "-no-color"])
    const found = Option.getOrUndefined(decodeValidation(output))
    if (found === undefined) return notRun("The tool did not report a result.")
    if (found.valid) return { status: "passed" } satisfies ToolCheck
    const details = found.diagnostics
      .filter(({ severity }) => severity === "error")
      .slice(0, mostDetails)
      .map(({ range, summary }) =>
        (range === undefined ? summary : `${summary} (${range.filename}:${range.start.line})`).slice(0, 300)
      )
    return { status: "failed", details } satisfies ToolCheck
  })

  const of = Effect.fn("StaticChecks.of")(
    function* (archiveDigest: string, modules: ReadonlyArray<CheckedModule>) {
      const tool = yield* opened(archiveDigest)
      const files = yield* unformatted(tool).pipe(Effect.timeout(patience))
      const checks = new Map<string, ModuleChecks>()
      for (const module of modules) {
        const validation = yield* validationOf(tool, module).pipe(Effect.timeout(patience))
        checks.set(module.path, { validation, formatting: formattingOf(module.path, files) })
      }
      return checks
    },
    Effect.scoped,
    (checks, _, modules) =>
      Effect.catchCause(checks, (cause) =>
        Effect.as(
          Effect.logWarning("The tool could not check a pull request", cause),
          new Map(modules.map(({ path }) => [path, neither("The tool could not be started in the sandbox.")]))
        )
      )
  )

  return StaticChecks.of({ of })
})
