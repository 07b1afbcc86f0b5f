import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Effect, FileSystem, Layer } from "effect"
import { Vault } from "../../../../../actors/base/vault/Vault.ts"
import { VaultSettings } from "../../../../../actors/base/vault/VaultSettings.ts"
import * as Database from "../../../../../src/database/Database.ts"
import { DataFolder } from "../../../../../src/database/DataFolder.ts"

const [folder = "", fuse = ""] = process.argv.slice(2)
let armed = false
let steps = 0

/** Kills the process at the n-th step of the rotation, as a power failure would: no handler runs and nothing is flushed. */
const step = Effect.sync(() => {
  if (!armed) return
  steps += 1
  if (steps === Number(fuse)) process.kill(process.pid, "SIGKILL")
})

/** Each replacement of the keyring file counts as two steps: just before it and just after it. */
const files = Layer.effect(
  FileSystem.FileSystem,
  Effect.map(FileSystem.FileSystem, (real) => ({
    ...real,
    rename: (from: string, to: string) => Effect.andThen(Effect.andThen(step, real.rename(from, to)), step)
  }))
)

/** The rotation reads the clock once per batch of data keys, inside the transaction. Each clock reading counts as a step. */
const clock = Layer.effect(
  Clock.Clock,
  Effect.map(
    Clock.Clock,
    (real): Clock.Clock => ({
      currentTimeMillisUnsafe: () => real.currentTimeMillisUnsafe(),
      currentTimeNanosUnsafe: () => real.currentTimeNanosUnsafe(),
      currentTimeMillis: Effect.tap(real.currentTimeMillis, () => step),
      currentTimeNanos: real.currentTimeNanos,
      monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
      monotonicTimeNanos: real.monotonicTimeNanos,
      sleep: (duration) => real.sleep(duration)
    })
  )
)

const program = Effect.gen(function* () {
  const vault = yield* Vault
  armed = true
  yield* vault.rotateMasterKey({ forgetRetired: true })
  armed = false
})

const vault = Vault.layer.pipe(
  Layer.provide(
    Layer.succeed(VaultSettings, { masterKey: { kind: "file", file: `${folder}/master.key`, create: false } })
  ),
  Layer.provide(files),
  Layer.provide(Database.layer.pipe(Layer.provide(DataFolder.layer(folder)))),
  Layer.provide(NodeCrypto.layer),
  Layer.provide(NodeServices.layer)
)

NodeRuntime.runMain(Effect.provide(program, Layer.provideMerge(vault, clock)))
