// A fake service in a separate process, which runs as the user who starts it. It has a data folder and an environment with
// secrets, opens a sandbox at the requested level, and runs the attack inside. Prints one JSON line.
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer, Stream } from "effect"
import { ConfinementCommand } from "../../../../runner/sandbox/confinement/ConfinementCommand.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../../runner/sandbox/SandboxSettings.ts"
import { systemPath } from "../../../../runner/sandbox/SandboxView.ts"
import type { SandboxLevel } from "../../../../schema/records/Run.ts"

const [wanted, network, binary] = process.argv.slice(2)
const confinement =
  binary === undefined
    ? Layer.empty
    : Layer.succeed(ConfinementCommand, { program: binary, args: ["internal-confine"] })
const level = defaultSandboxSettings.levels.find((name): name is SandboxLevel => name === wanted)
const folder = realpathSync(mkdtempSync(join(tmpdir(), "svc-level-")))
chmodSync(folder, 0o711)
const data = join(folder, "data")
const root = join(data, "runs", "run-own", "capsule")
const otherRun = join(data, "runs", "run-other")
for (const path of [root, join(root, "tmp"), otherRun]) mkdirSync(path, { recursive: true, mode: 0o700 })
for (const [path, text] of [
  [join(data, "master.key"), "the master key"],
  [join(data, "svc.sqlite"), "the database"],
  [join(data, "operator.secret"), "the secret"],
  [join(otherRun, "inputs"), "inputs of another Run"]
] as const) {
  writeFileSync(path, text, { mode: 0o600 })
}
copyFileSync(join(import.meta.dir, "Attack.ts"), join(root, "Attack.ts"))

// Responds to every command that contains the right secret, like the operator's socket.
const operatorSocket = join(data, "operator.sock")
const operator = createServer((socket) =>
  socket.on("data", (bytes) => void socket.end(bytes.includes("the secret") ? "Success" : "Unauthorised"))
)
const host = createServer((socket) => socket.end())
await new Promise<void>((resolve) => operator.listen(operatorSocket, () => resolve()))
const port = await new Promise<number>((resolve) =>
  host.listen(0, "127.0.0.1", () => {
    const address = host.address()
    resolve(typeof address === "object" && address !== null ? address.port : 0)
  })
)
const abstractName = `svc-level-${process.pid}`
const named = createServer((socket) => socket.end())
await new Promise<void>((resolve) => named.listen(`\0${abstractName}`, () => resolve()))
Bun.spawnSync(["mkfifo", "-m", "600", join(otherRun, "pipe")])
writeFileSync(
  join(root, "target.json"),
  JSON.stringify({
    serverPid: process.pid,
    masterKey: join(data, "master.key"),
    database: join(data, "svc.sqlite"),
    otherRun,
    operatorSecret: join(data, "operator.secret"),
    operatorSocket,
    port,
    abstractName,
    sharedDevice: statSync("/dev/shm").dev
  })
)

const attack = Effect.gen(function* () {
  const { open, status } = yield* Sandbox
  if (!status.accepted) return { status }
  const box = yield* open({ root, readOnly: [process.execPath], temporary: "tmp" })
  const child = yield* box.spawn({
    argv: [process.execPath, "Attack.ts"],
    cwd: ".",
    environment: { PATH: systemPath, HOME: box.root, TMPDIR: box.temporary },
    network: network === "network"
  })
  const [out, said] = yield* Effect.all(
    [child.stdout, child.stderr].map((stream) => stream.pipe(Stream.decodeText(), Stream.mkString)),
    { concurrency: 2 }
  )
  const end = yield* child.end
  return { status, said, end, could: out === "" ? undefined : JSON.parse(out ?? "") }
}).pipe(
  Effect.scoped,
  Effect.provide(
    Sandbox.layer.pipe(
      Layer.provide(
        Layer.succeed(SandboxSettings, {
          ...defaultSandboxSettings,
          ...(level === undefined ? { isolation: "off" } : { levels: [level] }),
          ownFolder: join(data, "sandbox"),
          dataFolder: data
        })
      ),
      Layer.provide(confinement),
      Layer.provide(NodeServices.layer)
    )
  )
)

process.stdout.write(`${JSON.stringify(await Effect.runPromise(attack))}\n`)
operator.close()
host.close()
named.close()
rmSync(folder, { recursive: true, force: true })
