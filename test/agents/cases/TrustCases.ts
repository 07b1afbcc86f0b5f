import { createHash } from "node:crypto"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
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
import { eventually, keptAgent } from "./Journeys.ts"

const [credential, password, otherCredential] = canaries

/** The demo provider signs each note with a digest of its token. */
const signatureOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 8)

/** Returns the credentials that created the existing notes. */
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
    // An agent without the credential is not eligible, and the Run's reason for waiting contains the name of the credential.
    const bare = yield* keptAgent(yield* world.agent("bare"))
    yield* world.until(planRunId, ({ queue }) => queue?.message?.includes(`with the credentials ${ownName}`) === true)
    const fit = yield* keptAgent(yield* world.agent("fit", { env: yield* world.ownCredentials() }))
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    const apply = yield* world.over(yield* world.approvedApply(planRunId))
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    yield* holds(ownersOf(world.notesDir).has(signatureOf(credential)), "The provider was not given the credential")
    // The server's memory contains the data that the server has read, but never the credential.
    const remembered = wordsInMemory(world.first.pid, [credential, "demo_note"])
    yield* holds(remembered.join() === "demo_note", `The server's memory holds ${remembered.join()}`)
    // The plan is not applied, so the server keeps the plan file.
    yield* world.over((yield* world.installed("two")).planRunId)
    // If the operator has not given permission, the server refuses the Run with an error that explains whose permission is
    // missing.
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
    // The sensitive input appears only in the sealed plan file and state. The credential appears nowhere.
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
  name: "two agents have different values under one provided name: what was planned with one waits for it, and is not applied with the other",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leavesCredential: true })
    const env = yield* world.ownCredentials()
    const one = yield* keptAgent(yield* world.agent("one", { env, places: 1 }))
    const { capsuleId, planRunId } = yield* world.installed("one")
    const plan = yield* world.over(planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    // The agent that created the plan is connected but has no free slot. The other agent has a free slot but different
    // credentials.
    yield* world.plans.hold("busy-a")
    const busy = yield* world.installed("busy")
    yield* world.plans.held("busy-a")
    const others = yield* world.ownCredentials(otherCredential)
    const two = yield* keptAgent(yield* world.agent("two", { env: others, places: 1 }))
    yield* eventually(() => two.line.said.includes("Next"))
    const applyId = yield* world.approvedApply(planRunId)
    yield* eventually(() => two.line.said.filter((message) => message === "Renew").length > 3)
    yield* holds((yield* world.run(applyId)).status === "queued", "The apply does not wait for the agent of its plan")
    yield* holds(ownersOf(world.notesDir).size === 0, "Something was made with the other values")
    yield* world.plans.letGo("busy-a")
    yield* world.over(busy.planRunId)
    const apply = yield* world.over(applyId)
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    const owners = [...ownersOf(world.notesDir)].join()
    yield* holds(owners === signatureOf(credential), `The notes are of ${owners}`)
    yield* two.owesNothing
    yield* two.end

    // A plan is void if its agent's credentials have changed since the plan was created.
    const { run } = yield* world.client.capsules.destroyPlan({
      params: { capsuleId },
      headers: { "idempotency-key": "destroy" },
      payload: {}
    })
    yield* world.over(run.id)
    writeFileSync(join(dirname(env.SVC_AGENT_CREDENTIALS), "token"), `${otherCredential}\n`)
    yield* world.until(run.id, ({ status }) => status === "superseded")
    const next = yield* world.installed("two")
    yield* world.over(next.planRunId)
    const later = yield* world.over(yield* world.approvedApply(next.planRunId))
    yield* holds(later.status === "succeeded", `${later.status} ${later.error?.message}`)
    yield* holds(ownersOf(world.notesDir).has(signatureOf(otherCredential)), "The new values were not used")
    yield* one.owesNothing
    yield* one.end
    yield* verdict(world)
  })
}

const replacedValues: WorldCase = {
  name: "credentials of an agent are replaced: a plan that waits is void and says why, unless a label stands for them",
  run: Effect.fnUntraced(function* (options) {
    const world = yield* agentWorld({ ...options, leavesCredential: true })
    const replace = (env: { readonly SVC_AGENT_CREDENTIALS: string }, value: string) =>
      Effect.promise(() => Bun.write(join(dirname(env.SVC_AGENT_CREDENTIALS), "token"), value))
    const env = yield* world.ownCredentials()
    const bare = yield* keptAgent(yield* world.agent("bare", { env }))
    const { capsuleId, planRunId } = yield* world.installed("one")
    yield* world.over(planRunId)
    yield* replace(env, otherCredential)
    yield* world.until(planRunId, ({ status }) => status === "superseded")
    const events = yield* world.client.runs.events({ params: { runId: planRunId }, query: {} })
    const told = JSON.stringify(events.events.filter(({ kind }) => kind === "run.superseded"))
    yield* holds(told.includes(`have new values for the credentials ${ownName}`), told)
    yield* bare.end
    // The same agent, with a label for its credentials.
    const labelled = yield* world.ownCredentials(credential, { label: "blue" })
    const kept = yield* keptAgent(yield* world.agent("labelled", { env: labelled }))
    const again = yield* world.client.capsules.plan({
      params: { capsuleId },
      headers: { "idempotency-key": "again" },
      payload: {}
    })
    const plan = yield* world.over(again.run.id)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* replace(labelled, otherCredential)
    const apply = yield* world.over(yield* world.approvedApply(again.run.id))
    yield* holds(apply.status === "succeeded", `${apply.status} ${apply.error?.message}`)
    const owners = [...ownersOf(world.notesDir)].join()
    yield* holds(owners === signatureOf(otherCredential), `The notes are of ${owners}`)
    yield* kept.owesNothing
    yield* kept.end
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
    // The server seals the next offer for the new keys.
    const plan = yield* world.over((yield* world.installed("two")).planRunId)
    yield* holds(plan.status === "waiting_approval", `${plan.status} ${plan.error?.message}`)
    yield* kept.owesNothing
    yield* kept.end
    yield* verdict(world)
  })
}

/** Secrets of an agent: the credentials of its pool, and its keys. */
export const trustCases: ReadonlyArray<WorldCase> = [ownCredentials, otherValues, replacedValues, keysReplaced]
