import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { AgentKeys } from "../../../schema/agent/AgentIdentity.ts"
import { storage } from "../../../src/composition/Storage.ts"
import { holds } from "../../crash/CrashClient.ts"
import { testSettings } from "../../support/ControlPlane.ts"
import { canaries } from "../support/AgentModules.ts"
import { agentWorld, ownName } from "../support/AgentWorld.ts"
import { wordsInSealed } from "../support/OpenedRecords.ts"
import { wordsInMemory } from "../support/ServerMemory.ts"
import { verdict } from "../support/Verdict.ts"
import type { WorldCase } from "./AgentCase.ts"
import { keptAgent } from "./Journeys.ts"

const [credential, password, otherCredential] = canaries

/** The demo provider signs each note with a digest of the token that it was given. */
const signatureOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 8)

/** Who made the notes that exist. */
const ownersOf = (notesDir: string) =>
  new Set(
    readdirSync(notesDir)
      .filter((name) => name.endsWith(".json"))
      .map((name) => /"owner":"(\w+)"/.exec(readFileSync(join(notesDir, name), "utf8"))?.[1] ?? "nobody")
  )

const ownCredentials: WorldCase = {
  name: "what a pool provides reaches the provider and never the control plane: in no file, no byte of its memory and nothing that it sealed",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leavesCredential: true })
    const { capsuleId, planRunId } = yield* world.installed("one")
    // An agent without it is not fit, and the Run says what is missing.
    const bare = yield* keptAgent(yield* world.agent("bare"))
    yield* world.until(planRunId, ({ queue }) => queue?.message?.includes(`with the credentials ${ownName}`) === true)
    const fit = yield* keptAgent(yield* world.agent("fit", { env: yield* world.ownCredentials() }))
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    const apply = yield* world.over(yield* world.approvedApply(planRunId))
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    yield* holds(ownersOf(world.notesDir).has(signatureOf(credential)), "The provider was not given the credential")
    // What the server read is still in its memory, and this is not.
    const remembered = wordsInMemory(world.first.pid, [credential, "demo_note"])
    yield* holds(remembered.join() === "demo_note", `The server's memory holds ${remembered.join()}`)
    // A plan that nobody applies keeps its file.
    yield* world.over((yield* world.installed("two")).planRunId)
    // Without the operator's permission the Run is refused, and says whose permission it needs.
    yield* world.operator("pool", "withhold", "far", ownName, world.workspace.handle)
    const again = yield* world.client.capsules.plan({
      params: { capsuleId },
      headers: { "idempotency-key": "again" },
      payload: {}
    })
    const { error } = yield* world.over(again.run.id)
    yield* holds(error?.code === "blocked_policy", `${error?.code}`)
    const isSaid = error?.message.includes(`does not let this Workspace use the credentials ${ownName}`) === true
    yield* holds(isSaid, `${error?.message}`)
    yield* bare.end
    yield* fit.end
    yield* verdict(world)
    // The sensitive input is in the plan file and the state that were sealed; the credential is nowhere.
    const sealed = yield* wordsInSealed(canaries).pipe(
      Effect.provide(storage(yield* testSettings({ dataDir: world.dataDir })))
    )
    yield* holds(!sealed.found.some((place) => place.endsWith(credential)), sealed.found.join())
    for (const place of ["run_plans.plan_file", "state_versions.state"]) {
      yield* holds(sealed.found.includes(`${place}: ${password}`), `${place} was not searched`)
    }
  })
}

const otherValues: WorldCase = {
  name: "two agents have different values under one provided name: what was planned with one is not applied with the other",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leavesCredential: true })
    const one = yield* keptAgent(yield* world.agent("one", { env: yield* world.ownCredentials(), places: 1 }))
    const { capsuleId, planRunId } = yield* world.installed("one")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    // The agent that planned is there and has no place, so the apply goes to the other one.
    yield* world.plans.hold("busy-a")
    const busy = yield* world.installed("busy")
    yield* world.plans.held("busy-a")
    const env = yield* world.ownCredentials(otherCredential)
    const two = yield* keptAgent(yield* world.agent("two", { env, places: 1 }))
    const refused = yield* world.over(yield* world.approvedApply(planRunId))
    const isSaid = refused.error?.message.includes(`not made with the credentials ${ownName} that this agent has now`)
    yield* holds(refused.status === "failed" && isSaid === true, `${refused.status} ${refused.error?.message}`)
    yield* holds(ownersOf(world.notesDir).size === 0, "Something was made with the other values")
    const { runtimeSafety, status } = yield* world.capsule(capsuleId)
    yield* holds(status === "pending" && runtimeSafety === "safe", `${status} ${runtimeSafety}`)
    yield* world.plans.letGo("busy-a")
    const held = yield* world.over(busy.planRunId)
    yield* holds(held.status === "waiting_approval", `${held.status} ${held.error?.message}`)
    yield* one.owesNothing
    yield* one.end
    // Planned again, it is applied with the values of that plan.
    const again = yield* world.client.capsules.plan({
      params: { capsuleId },
      headers: { "idempotency-key": "again" },
      payload: {}
    })
    yield* world.over(again.run.id)
    const apply = yield* world.over(yield* world.approvedApply(again.run.id))
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    const owners = [...ownersOf(world.notesDir)].join()
    yield* holds(owners === signatureOf(otherCredential), `The notes are of ${owners}`)
    yield* two.owesNothing
    yield* two.end
    yield* verdict(world)
  })
}

const decodeKeys = Schema.decodeUnknownEffect(Schema.Struct({ public: AgentKeys }))

const keysReplaced: WorldCase = {
  name: "an agent whose tool applies gets new keys, and goes on with the apply and with the Runs after it",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld(options)
    const agent = yield* world.agent("one")
    const kept = yield* keptAgent(agent)
    const keys = Effect.promise(() => Bun.file(join(agent.folder, "keys.json")).json()).pipe(
      Effect.flatMap(decodeKeys),
      Effect.map((stored) => stored.public.sign)
    )
    const { planRunId } = yield* world.installed("one")
    yield* world.over(planRunId)
    const before = yield* keys
    yield* world.hold("one-b")
    const applyId = yield* world.approvedApply(planRunId)
    yield* world.held("one-b")
    const told = yield* agent.rotated
    yield* holds(told.includes("in_use"), told)
    yield* holds((yield* keys) !== before, "The keys are the same")
    yield* world.letGo("one-b")
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    // The next one is sealed for the new keys.
    const plan = yield* world.over((yield* world.installed("two")).planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* kept.owesNothing
    yield* kept.end
    yield* verdict(world)
  })
}

/** Secrets that are an agent's own: those of its pool, and its keys. */
export const trustCases: ReadonlyArray<WorldCase> = [ownCredentials, otherValues, keysReplaced]
