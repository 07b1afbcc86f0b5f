// A fake service in a separate process. It starts a program at the requested level, and that program starts another program,
// which leaves its group and session and keeps `lifeline` open. Prints `up` once the second program runs, and `ended` once the
// first program has exited.
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { ConfinementCommand } from "../../../../runner/sandbox/confinement/ConfinementCommand.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"

const [wanted, folder = "", end, binary] = process.argv.slice(2)
const confinement =
  binary === undefined
    ? Layer.empty
    : Layer.succeed(ConfinementCommand, { program: binary, args: ["internal-confine"] })
const level = defaultSandboxSettings.levels.find((name): name is SandboxLevel => name === wanted)

// Forks twice in a new session, so that no parent, group or session leads to the process.
const straggler = "exec 3> lifeline; echo > up; exec sleep 1000"
const script = `(setsid sh -c '(${straggler}) > /dev/null 2>&1 < /dev/null &') ; until [ -e up ]; do :; done; echo up; ${end === "exit" ? "exit 3" : "exec sleep 1000"}`

const program = Effect.gen(function* () {
  const { open, status } = yield* Sandbox
  if (!status.accepted) return "unavailable"
  const box = yield* open({ root: join(folder, "run/root"), readOnly: [], processNote: join(folder, "run/note") })
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
  yield* child.end
  process.stdout.write("ended\n")
  // The sandbox stays open here, so closing it cannot be the cause if the processes are killed.
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(
    Sandbox.layer.pipe(
      Layer.provide(
        Layer.succeed(SandboxSettings, {
          ...defaultSandboxSettings,
          ...(level === undefined ? { isolation: "off" } : { levels: [level] }),
          ownFolder: join(folder, "own"),
          dataFolder: folder
        })
      ),
      Layer.provide(confinement),
      Layer.provide(NodeServices.layer)
    )
  )
)

process.stdout.write(`${await Effect.runPromise(program)}\n`)
