import { readdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { it } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { addApply, addPlan, slowModule, snapshotOf, startAgent } from "./support/AgentStage.ts"
import { scriptedServer } from "./support/ScriptedServer.ts"

const until = (holds: () => boolean) => eventually(Effect.sync(holds), (holding) => holding)

describe("an agent", () => {
  it.live(
    "an agent reports that no tool was started if it never received the permission to start from the server",
    () =>
      Effect.gen(function* () {
        const server = yield* scriptedServer
        const folder = join(yield* temporaryFolder, "agent")
        const snapshot = yield* snapshotOf(server, slowModule(1))
        const agent = yield* startAgent(server, folder)
        const plan = yield* addPlan(server, snapshot)
        yield* until(() => plan.results.length > 0)
        const [result] = plan.results
        if (result?.kind !== "plan" || result.status !== "ended") throw new Error(JSON.stringify(result))
        server.faults.push({ message: "Start", lost: "answer", times: 1_000_000 })
        const apply = yield* addApply(server, snapshot, {
          outcome: result.outcome,
          planFile: plan.files.get("plan_file") ?? new Uint8Array(0)
        })
        yield* until(() => apply.heard.includes("Start"))
        apply.gone = "hand_in"
        yield* until(() => apply.handedIn.length === 1)
        expect(apply.handedIn).toMatchObject([{ neverStarted: true, changedAnything: false, started: [] }])
        expect(JSON.stringify(apply.entries)).not.toContain("working on")
        yield* until(() => readdirSync(join(folder, "runs")).length === 0)
        yield* agent.drained
      }),
    120_000
  )
})
