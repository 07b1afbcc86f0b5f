// Runs an agent in a separate process, with a guard and a tool at the requested level. The tool starts a process that leaves its
// group and session and keeps `lifeline` open. Prints when the guard will kill the tool, and `up` once that process is running.
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { bootSeconds } from "../../../../runner/agent/BootClock.ts"
import { Guard } from "../../../../runner/agent/guard/Guard.ts"
import { GuardCommand } from "../../../../runner/agent/guard/GuardCommand.ts"
import { processNoteName } from "../../../../runner/execution/RunFolder.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"

const [wanted, folder = "", seconds, guardProgram = ""] = process.argv.slice(2)
const level = defaultSandboxSettings.levels.find((name) => name === wanted)

const straggler = "exec 3> lifeline; echo > up; exec sleep 1000"
const script = `(setsid sh -c '(${straggler}) > /dev/null 2>&1 < /dev/null &') ; until [ -e up ]; do :; done; echo up; exec sleep 1000`

const program = Effect.gen(function* () {
  const { open, status } = yield* Sandbox
  if (!status.accepted) return "unavailable"
  const guard = yield* Guard
  const run = join(folder, "run")
  const killAt = bootSeconds() + Number(seconds)
  yield* guard.hold(run, killAt)
  process.stdout.write(`killAt ${killAt}\n`)
  const box = yield* open({ root: join(run, "root"), readOnly: [], processNote: join(run, processNoteName) })
  const child = yield* box.spawn({
    argv: ["/bin/sh", "-c", script],
    cwd: ".",
    environment: { PATH: systemPath },
    network: false
  })
  yield* child.stdout.pipe(
    Stream.decodeText(),
    Stream.runForEach((text) => Effect.sync(() => process.stdout.write(text)))
  )
  // Exits without killing the tool's remaining processes, so that only the guard can kill them.
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.merge(Sandbox.layer, Guard.layer).pipe(
      Layer.provide(
        Layer.succeed(SandboxSettings, {
          ...defaultSandboxSettings,
          ...(level === undefined ? { isolation: "off" } : { levels: [level] }),
          ownFolder: join(folder, "own"),
          dataFolder: folder
        })
      ),
      Layer.provide(Layer.succeed(GuardCommand, { program: process.execPath, args: [guardProgram] })),
      Layer.provide(NodeServices.layer)
    )
  )
)

process.stdout.write(`${await Effect.runPromise(program)}\n`)
