import { expect } from "bun:test"
import { Duration, Effect, type Scope } from "effect"
import type { Rpc, RpcGroup } from "effect/rpc"
import { SqlClient } from "effect/sql"
import type { AgentLeases } from "../../../../actors/running/agent/AgentLeases.ts"
import type { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import type { Agents } from "../../../../actors/running/agent-pool/Agents.ts"
import type { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import type { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { Pools } from "../../../../actors/running/agent-pool/Pools.ts"
import type { JobOffer } from "../../../../schema/agent/AgentJob.ts"
import type { AgentProtocol } from "../../../../schema/agent/AgentProtocol.ts"
import type { BlobKind } from "../../../../schema/agent/Blob.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { applyingOn, begun, offerTo, stateFile, text, world } from "./FarPlane.ts"
import { type AgentServer, digestOf, type TestAgent, testAgent } from "./TestAgent.ts"

export type Tag = Rpc.Tag<RpcGroup.Rpcs<typeof AgentProtocol>>
export type Kind = typeof BlobKind.Type
export type Offer = typeof JobOffer.Type
export interface Claim {
  readonly runId: Offer["runId"]
  readonly fence: number
}

/** Two agents in one pool, each with a Run, and one agent in another pool. */
export interface Scene {
  readonly honest: TestAgent
  /** The claim on an apply that has been started. */
  readonly held: Claim
  /** The files that the honest agent has uploaded or may fetch, keyed by kind. */
  readonly digests: Readonly<Record<Kind, string>>
  readonly liar: TestAgent
  /** The claim on a plan that the malicious agent has accepted. */
  readonly own: Claim
  readonly stranger: TestAgent
}

export const digest = `sha256:${"0".repeat(64)}`
export const at = "2026-01-01T00:00:00.000Z"
export const lineOf = (words: string) => ({
  kind: "line" as const,
  at,
  phase: "plan" as const,
  stream: "stdout" as const,
  text: words
})

export const refused = <A, E, R>(told: Effect.Effect<A, E, R>, tag: string) =>
  Effect.map(Effect.flip(told), (refusal) => expect(refusal).toMatchObject({ _tag: tag }))

/**
 * Returns claims that the malicious agent does not hold: the honest agent's claim, a claim with an old fence, and claims
 * without a Run.
 */
export const notOwn = ({ held, own }: Scene): ReadonlyArray<Claim> => [
  held,
  { ...held, fence: held.fence - 1 },
  { ...own, fence: own.fence + 1 },
  { runId: own.runId, fence: held.fence + 100 }
]

export const ofOthers =
  (tell: (scene: Scene, claim: Claim) => Effect.Effect<unknown, unknown>, tag = "Gone"): Lie["tell"] =>
  (scene) =>
    Effect.forEach(notOwn(scene), (claim) => refused(tell(scene, claim), tag), { discard: true })

export type Services =
  | Agents
  | AgentLeases
  | AgentServer
  | InstallPlans
  | Pools
  | RunJournal
  | Runs
  | Scope.Scope
  | SqlClient.SqlClient
  | TestPlane

export interface Lie {
  readonly name: string
  readonly tell: (scene: Scene) => Effect.Effect<unknown, unknown, Services>
}

export interface Told {
  /** Payloads that violate the protocol or exceed its limits. */
  readonly malformed: ReadonlyArray<(scene: Scene) => object>
  readonly lies: ReadonlyArray<Lie>
}

export const greeting = Effect.fnUntraced(function* (agent: TestAgent) {
  const { nonce } = yield* agent.client.Challenge({ agentId: agent.agentId })
  const { agentId, facts } = agent
  return { agentId, nonce, signature: agent.signed(nonce, facts), facts, held: [] }
})

export const scene = Effect.gen(function* () {
  const { enrolled, origin, pools } = yield* world
  const { workspaceId } = yield* TestPlane
  yield* pools.create("near", { isolation: "bubblewrap" })
  yield* pools.assign("near", workspaceId)
  const honest = yield* enrolled()
  const { claim: held } = yield* applyingOn(honest, "honest")
  const state = yield* honest.put(held, "state", stateFile(1))
  const outcome = yield* honest.put(held, "outcome", text("an outcome"))
  const sql = yield* SqlClient.SqlClient
  const [files] = yield* sql<{ snapshot: string; planned: string }>`SELECT s.archive_digest AS snapshot,
      (SELECT json_extract(p.evidence, '$.planDigest') FROM runs p WHERE p.id = r.plan_run_id) AS planned
    FROM runs r JOIN source_snapshots s ON s.id = r.source_snapshot_id WHERE r.id = ${held.runId}`
  const liar = yield* enrolled()
  yield* begun("liar", { "liar.md": "another module" })
  const { offer } = yield* offerTo(liar)
  yield* liar.as(liar.client.Accept(offer))
  const { secret } = yield* pools.token("near", { uses: 1, lifetime: Duration.hours(1) })
  const stranger = yield* testAgent(origin, secret)
  yield* stranger.hello()
  const made: Scene = {
    honest,
    held,
    digests: {
      snapshot: files?.snapshot ?? "",
      build: digest,
      state,
      plan_file: files?.planned ?? digestOf(text(`plan of ${held.runId}`)),
      outcome,
      left_over: digest
    },
    liar,
    own: { runId: offer.runId, fence: offer.fence },
    stranger
  }
  return made
})
