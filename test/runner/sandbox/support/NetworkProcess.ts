// A fake service in a separate process that creates a network with the given `pasta`. Prints `up` once a program is running in
// the network. When it reads a line, it cancels a waiting Run, prints `cancelled` and continues.
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"

const [folder = ""] = process.argv.slice(2)
mkdirSync(join(folder, "root"), { recursive: true })

const asked = Effect.promise(() => new Promise<void>((resolve) => process.stdin.once("data", () => resolve())))

const run = Effect.gen(function* () {
  const { open } = yield* Sandbox
  const box = yield* open({ root: join(folder, "root"), readOnly: [] })
  const child = yield* box.spawn({
    argv: ["/bin/sh", "-c", "echo up; exec sleep 1000"],
    cwd: ".",
    environment: { PATH: systemPath },
    network: true
  })
  yield* Stream.runForEach(Stream.decodeText(child.stdout), (text) => Effect.sync(() => process.stdout.write(text)))
}).pipe(Effect.scoped)

const program = Effect.raceFirst(run, asked).pipe(
  Effect.andThen(Effect.sync(() => process.stdout.write("cancelled\n"))),
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
