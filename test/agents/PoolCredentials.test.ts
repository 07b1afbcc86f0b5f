import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect } from "bun:test"
import { Effect } from "effect"
import { platform } from "../../src/composition/Platform.ts"
import { storage } from "../../src/composition/Storage.ts"
import { canarySweep } from "../support/CanarySweep.ts"
import { testSettings } from "../support/ControlPlane.ts"
import { it } from "../support/Effect.ts"
import { agentWorldWithOwnCredentials, canaries, ownName } from "./support/AgentWorld.ts"
import { wordsInSealed } from "./support/OpenedRecords.ts"
import { wordsInMemory } from "./support/ServerMemory.ts"

const [credential, password] = canaries
const isOver = ({ status }: { readonly status: string }) => status !== "queued" && status !== "running"

/** The demo provider signs each note with a digest of the token that it was given. */
const owner = createHash("sha256").update(credential).digest("hex").slice(0, 8)

it.live(
  "what a pool provides reaches the provider and never the control plane, in no file, record or byte of its memory",
  () =>
    Effect.gen(function* () {
      const world = yield* agentWorldWithOwnCredentials()
      expect(world.connection).toMatchObject({
        providedBy: { pool: "far", name: ownName },
        envNames: [],
        fileNames: []
      })
      const { capsuleId, planRunId } = yield* world.installed
      // An agent without it is not fit, and the Run says what is missing.
      const bare = yield* world.agent("bare")
      yield* bare.start
      const waiting = yield* world.until(
        planRunId,
        ({ queue }) => queue?.message?.includes(`with the credentials ${ownName}`) === true
      )
      expect(waiting.queue).toMatchObject({ reason: "no_agent" })
      const fit = yield* world.agent("fit", yield* world.ownCredentials)
      yield* fit.start
      const plan = yield* world.until(planRunId, isOver)
      expect(plan).toMatchObject({ status: "waiting_approval" })
      const applyId = yield* world.approvedApply(planRunId)
      expect(yield* world.until(applyId, isOver)).toMatchObject({ status: "succeeded" })
      expect(yield* world.capsule(capsuleId)).toMatchObject({ status: "active" })
      // The provider had it.
      const notes = readdirSync(world.notesDir).filter((name) => name.endsWith(".json"))
      expect(notes.map((name) => readFileSync(join(world.notesDir, name), "utf8")).join()).toContain(owner)
      // The server had not: what it read is still in its memory, and this is not.
      expect(wordsInMemory(world.first.pid, [credential, "demo_note"])).toEqual(["demo_note"])
      expect(canarySweep(world.dataDir, canaries)).toEqual([])
      expect(canarySweep(fit.folder, canaries)).toEqual([])
      // A plan that nobody applies keeps its file.
      const unapplied = yield* world.installed
      expect(yield* world.until(unapplied.planRunId, isOver)).toMatchObject({ status: "waiting_approval" })
      // Without the operator's word the Run is refused, and says whose word it needs.
      yield* world.provided("withhold")
      const { run: again } = yield* world.client.capsules.plan({
        params: { capsuleId },
        headers: { "idempotency-key": "again" },
        payload: {}
      })
      const refused = yield* world.until(again.id, isOver)
      expect(refused).toMatchObject({ status: "failed", error: { code: "blocked_policy" } })
      expect(refused.error?.message).toContain(`does not let this Workspace use the credentials ${ownName}`)
      // Nor is it in anything that was sealed. The sensitive input is, in the plan file and the state.
      process.kill(world.first.pid, "SIGKILL")
      yield* Effect.exit(world.first.exitCode)
      const sealed = yield* wordsInSealed(canaries).pipe(
        Effect.provide(storage(yield* testSettings({ dataDir: world.dataDir })))
      )
      expect(sealed.found.filter((place) => place.endsWith(credential))).toEqual([])
      expect(sealed.found).toContain(`run_plans.plan_file: ${password}`)
      expect(sealed.found).toContain(`state_versions.state: ${password}`)
    }).pipe(Effect.provide(platform)),
  170_000
)
