import { Effect, FileSystem, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"

/** A step of the suite failed. */
export class StepFailed extends Schema.TaggedError<StepFailed>()("StepFailed", { message: Schema.String }) {}

/** A runtime for the installed packages: its npm package, and the path of its program in a project. */
export interface Runtime {
  readonly name: string
  readonly install: string
  readonly program: string
}

export const runtimes = [
  { name: "Node 22.19", install: "node@22.19.0", program: "node_modules/node/bin/node" },
  { name: "Node 24", install: "node@24.21.0", program: "node_modules/node/bin/node" },
  { name: "Bun", install: "bun@1.4.5", program: "node_modules/bun/bin/bun.exe" }
] as const satisfies ReadonlyArray<Runtime>

export interface Ended {
  readonly code: number
  readonly output: string
  readonly errors: string
}

/** Runs a program to completion and returns its output. */
export const ended = Effect.fn("ended")(function* (cwd: string, program: string, args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd, extendEnv: true, stdin: "ignore" }))
  const text = (stream: typeof handle.stdout) => Stream.mkString(Stream.decodeText(stream))
  const [output, errors, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
    concurrency: 3
  })
  return { code: Number(code), output, errors } satisfies Ended
}, Effect.scoped)

/** Runs a program that must succeed, and returns its output. */
export const succeeded = Effect.fn("succeeded")(function* (cwd: string, program: string, args: ReadonlyArray<string>) {
  const { code, errors, output } = yield* ended(cwd, program, args)
  if (code === 0) return output
  const last = `${output}\n${errors}`.split("\n").slice(-40).join("\n")
  return yield* new StepFailed({ message: `${program} ${args.join(" ")} ended with ${code}:\n${last}` })
})

/** Creates the tarballs of assembled packages with npm. */
export const packed = Effect.fn("packed")(function* (folders: ReadonlyArray<string>, to: string) {
  const path = yield* Path.Path
  return yield* Effect.forEach(folders, (folder) =>
    Effect.map(succeeded(folder, "npm", ["pack", "--pack-destination", to, "--silent"]), (output) =>
      path.join(to, output.trim().split("\n").at(-1) ?? "")
    )
  )
})

/** Creates an empty project with the packages installed, and removes it when the Scope closes. */
export const project = Effect.fn("project")(function* (
  installed: ReadonlyArray<string>,
  copied: ReadonlyArray<string>
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-packages-" })
  yield* files.writeFileString(path.join(folder, "package.json"), '{"private":true,"type":"module"}')
  yield* succeeded(folder, "npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--loglevel=error",
    ...installed
  ])
  for (const file of copied) yield* files.copyFile(file, path.join(folder, path.basename(file)))
  return folder
})
