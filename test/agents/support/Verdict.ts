import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { Effect, Schedule } from "effect"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { readCloud, readLedger } from "../../crash/Ledger.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import { canaries } from "./AgentModules.ts"
import type { AgentWorld } from "./AgentWorld.ts"
import { brokenPromises } from "./BrokenPromises.ts"

/** Stops all programs, and reads the evidence: database, folders, output, and every byte sent over a connection. */
export const verdict = Effect.fn("verdict")(function* (world: AgentWorld) {
  const owed = () =>
    world.agents.flatMap((folder) => (existsSync(`${folder}/runs`) ? readdirSync(`${folder}/runs`) : []))
  yield* Effect.repeat(Effect.sync(owed), {
    until: (names) => names.length === 0,
    schedule: Schedule.spaced("100 millis")
  }).pipe(
    Effect.timeoutOrElse({
      duration: "30 seconds",
      orElse: () => new Broken({ message: `Agents still hold ${owed().join(", ")}` })
    })
  )
  const captured = `${world.folder}/captured`
  mkdirSync(captured)
  for (const [at, line] of world.lines.entries()) {
    for (const [index, bytes] of line.captured().entries()) writeFileSync(`${captured}/${at}-${index}`, bytes)
  }
  yield* world.stopped
  const ledger = yield* readLedger(world.dataDir)
  const cloud = yield* readCloud(world.notesDir)
  const secrets = [world.dataDir, world.output, captured, ...world.agents].flatMap((folder) =>
    existsSync(folder) ? canarySweep(folder, canaries) : []
  )
  const broken = brokenPromises({ ledger, cloud, capsules: world.capsules, secrets })
  yield* holds(broken.length === 0, broken.join("\n    "))
  return ledger
})
