import { existsSync, readdirSync } from "node:fs"
import { Effect, Redacted, Schedule } from "effect"
import { verifyAudit } from "../../../actors/base/audit/AuditVerification.ts"
import { auditKeyOf } from "../../../src/cli/audit/AuditDatabase.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { canaries } from "../../agents/support/AgentModules.ts"
import { brokenPromises } from "../../agents/support/BrokenPromises.ts"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { readCloud, readLedger } from "../../crash/Ledger.ts"
import { canarySweep } from "../../support/CanarySweep.ts"
import type { NodesWorld } from "./NodesWorld.ts"
import type { Writer } from "./Writer.ts"

let judgements = 0

/** Waits until no agent has a Run folder. */
const agentsOweNothing = Effect.fnUntraced(function* (world: NodesWorld) {
  const owed = () =>
    world.agents.flatMap((folder) => (existsSync(`${folder}/runs`) ? readdirSync(`${folder}/runs`) : []))
  yield* Effect.repeat(Effect.sync(owed), {
    until: (names) => names.length === 0,
    schedule: Schedule.spaced("100 millis")
  }).pipe(
    Effect.timeoutOrElse({
      duration: "60 seconds",
      orElse: () => new Broken({ message: `Agents still hold ${owed().join(", ")}` })
    })
  )
})

/**
 * Checks a world's history: every Run has ended with complete events, no creation happened twice, no acknowledged write is lost,
 * no secret is stored in plain text, and the audit chains are intact. The servers may still be running.
 */
export const judged = Effect.fn("judged")(function* (world: NodesWorld, writers: ReadonlyArray<Writer>) {
  yield* agentsOweNothing(world)
  const more = { databaseUrl: world.databaseUrl, masterKey: Redacted.make(world.masterKey) }
  // Reads the ledger in a separate folder, because the servers hold the locks of their own folders.
  judgements += 1
  const dataDir = `${world.folder}/judge-${judgements}`
  const ledger = yield* readLedger(dataDir, more)
  const cloud = yield* readCloud(world.notesDir)
  const folders = [...world.nodes.map(({ folder }) => folder), world.output, ...world.agents]
  const secrets = folders.flatMap((folder) => (existsSync(folder) ? canarySweep(folder, canaries) : []))
  const broken = brokenPromises({ ledger, cloud, capsules: world.capsules, secrets })
  const written = yield* world.query("SELECT id FROM connections")
  const ids = new Set(written.map((row) => String(row["id"])))
  const lost = writers.flatMap(({ acknowledged }) => [...acknowledged].filter((id) => !ids.has(id)))
  const settings = { ...(yield* loadSettings(new Map(), yield* Effect.succeedNone)), ...more, dataDir }
  const { faults } = yield* Effect.flatMap(auditKeyOf(settings), (key) => verifyAudit(key, undefined)).pipe(
    Effect.provide(storage(settings))
  )
  const all = [
    ...broken,
    ...lost.map((id) => `The Connection ${id} was answered, and is lost`),
    ...faults.map(({ message, position }) => `The audit chain is broken at ${position ?? "?"}: ${message}`)
  ]
  yield* holds(all.length === 0, all.join("\n    "))
})
