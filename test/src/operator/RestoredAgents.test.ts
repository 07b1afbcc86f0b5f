import { describe, expect } from "bun:test"
import { Duration, Effect } from "effect"
import { Pools } from "../../../actors/running/agent-pool/Pools.ts"
import { newKeys, signedBy } from "../../../runner/agent/AgentKeyPair.ts"
import { helloText } from "../../../schema/agent/AgentProtocol.ts"
import { version } from "../../../src/Version.ts"
import { live } from "../cli/support/CommandLine.ts"
import { agentClient, machineFacts as anyFacts } from "../http/support/TestAgent.ts"
import { serve } from "./support/Server.ts"
import { restoredWith, asked, type Item } from "./support/RestoredInstallation.ts"

const machineFacts = { ...anyFacts, version }

/** Creates a pool with its grants to the Workspace, one agent, and a token to enrol more. */
const agentsAt = Effect.fnUntraced(function* (url: string) {
  const pools = yield* Pools
  yield* pools.create("far", {})
  yield* pools.assign("far", "acme")
  yield* pools.provide("far", "cloud", "acme")
  const { secret } = yield* pools.token("far", { uses: 3, lifetime: Duration.hours(1) })
  const keys = yield* newKeys
  const client = yield* agentClient(url)
  const { agentId, installationId } = yield* client.Enrol({
    token: secret,
    name: "one",
    keys: keys.public,
    facts: machineFacts
  })
  return { agentId, installationId, keys, secret }
})

describe("Restored agents", () => {
  live("after a restore, no agent is admitted and no Workspace can use a pool until an operator confirms them", () =>
    Effect.gen(function* () {
      const { added, dataDir, review, told, workspaceId } = yield* restoredWith(agentsAt)
      expect(told.ended).toMatchObject({ enrolmentTokens: 1 })
      const { agentId, installationId, keys, secret } = added
      const { services, url } = yield* serve(dataDir)
      const client = yield* agentClient(url)
      const hello = Effect.gen(function* () {
        const { nonce } = yield* client.Challenge({ agentId })
        const { incarnation } = machineFacts
        const said = helloText({ agentId, incarnation, nonce, installationId, nextKeys: undefined })
        const signature = yield* signedBy(keys, said)
        return yield* client.Hello({ agentId, nonce, signature, facts: machineFacts, held: [] })
      })
      const another = yield* newKeys
      const enrolment = { token: secret, name: "two", keys: another.public, facts: machineFacts }
      expect(yield* Effect.flip(client.Enrol(enrolment))).toMatchObject({ _tag: "Unauthorised" })
      // The agent presented its own keys, so the server tells the agent to retry later instead of rejecting it.
      expect(yield* Effect.flip(hello)).toMatchObject({
        retry: true,
        message: expect.stringContaining("restore-review")
      })
      yield* Effect.gen(function* () {
        const pools = yield* Pools
        const shown = Effect.map(pools.list, ([far]) => ({ workspaces: far?.workspaces, provisions: far?.provisions }))
        expect(yield* shown).toEqual({ workspaces: [], provisions: [] })
        const assignment = `far/${workspaceId}`
        const provision = `far/cloud/${workspaceId}`
        const listed: ReadonlyArray<Item> = (yield* review()).json.review
        const waiting = listed.filter(({ kind }) => kind.startsWith("agent"))
        expect(waiting).toMatchObject([
          { kind: "agent", id: agentId, description: "one of the pool far" },
          { kind: "agent_pool_assignment", id: assignment, workspace: "acme" },
          {
            kind: "agent_pool_provision",
            id: provision,
            workspace: "acme",
            description: expect.stringContaining("cloud")
          }
        ])
        const others = listed.filter(({ kind }) => !kind.startsWith("agent")).map(({ id }) => id)
        expect((yield* review(["confirm", ...others])).code).toBe(0)
        expect((yield* asked(url, "/readyz")).json).toMatchObject({ notice: "restore_review" })

        expect((yield* review(["confirm", assignment])).code).toBe(0)
        expect(yield* shown).toEqual({ workspaces: ["acme"], provisions: [] })
        expect((yield* review(["confirm", agentId])).code).toBe(0)
        expect((yield* hello).renewSeconds).toBeGreaterThan(0)
        expect((yield* review(["confirm", provision])).code).toBe(0)
        expect(yield* shown).toEqual({ workspaces: ["acme"], provisions: [{ name: "cloud", workspace: "acme" }] })
        expect((yield* asked(url, "/readyz")).json).toEqual({ status: "ok" })
        expect((yield* review()).json.review).toEqual([])
      }).pipe(Effect.provide(services))
    })
  )

  live("restored agents, pool assignments and credentials are permanently deleted when an operator removes them", () =>
    Effect.gen(function* () {
      const { added, dataDir, review, workspaceId } = yield* restoredWith(agentsAt)
      const { services } = yield* serve(dataDir)
      const removed = [added.agentId, `far/${workspaceId}`, `far/cloud/${workspaceId}`]
      expect((yield* review(["remove", ...removed])).code).toBe(0)
      const [far] = yield* Effect.provide(
        Effect.flatMap(Pools, ({ list }) => list),
        services
      )
      expect(far).toMatchObject({ workspaces: [], provisions: [], agents: 0 })
      expect((yield* review()).json.review.map(({ kind }: Item) => kind)).not.toContain("agent")
    })
  )
})
