// A fake service in a separate process that creates a network with the given `pasta`. Prints `up` once a program runs in the
// network. When it reads a line, it cancels a waiting Run, prints `cancelled` and continues. Once the file `root/end` exists, the
// program exits, and the service prints `ended` when the Run is over. It adopts orphaned processes without reaping them.
import { dlopen } from "bun:ffi"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"

const [folder = ""] = process.argv.slice(2)

const takeInOrphans = 36
dlopen("libc.so.6", { prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" } }).symbols.prctl(
  takeInOrphans,
  1,
  0,
  0,
  0
)

mkdirSync(join(folder, "root"), { recursive: true })

const asked = Effect.promise(() => new Promise<void>((resolve) => process.stdin.once("data", () => resolve())))

const run = Effect.gen(function* () {
  const { open } = yield* Sandbox
  const box = yield* open({ root: join(folder, "root"), readOnly: [] })
  const child = yield* box.spawn({
    argv: ["/bin/sh", "-c", "echo up; until [ -e end ]; do sleep 0.05; done"],
    cwd: ".",
    environment: { PATH: systemPath },
    network: true
  })
  yield* Stream.runForEach(Stream.decodeText(child.stdout), (text) => Effect.sync(() => process.stdout.write(text)))
}).pipe(Effect.scoped)

const program = Effect.raceFirst(Effect.as(run, "ended"), Effect.as(asked, "cancelled")).pipe(
  Effect.andThen((end) => Effect.sync(() => process.stdout.write(`${end}\n`))),
  Effect.andThen(Effect.never),
  Effect.provide(
    Sandbox.layer.pipe(
      Layer.provide(
        Layer.succeed(SandboxSettings, {
          ...defaultSandboxSettings,
          ownFolder: join(folder, "own"),
          network: { ...defaultSandboxSettings.network, reach: "isolated", pasta: join(folder, "pasta") }
        })
      ),
      Layer.provide(NodeServices.layer)
    )
  )
)

await Effect.runPromise(program)
