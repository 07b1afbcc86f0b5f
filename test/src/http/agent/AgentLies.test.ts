import { afterAll, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AgentProtocol } from "../../../../schema/agent/AgentProtocol.ts"
import { BlobKind } from "../../../../schema/agent/Blob.ts"
import { suite } from "../../../support/Effect.ts"
import { farPlane, stateFile, text } from "../support/FarPlane.ts"
import { type Claim, digest, type Kind, scene, type Tag, type Told } from "../support/LieScene.ts"
import { runLies } from "../support/RunLies.ts"
import { sessionLies } from "../support/SessionLies.ts"
import { digestOf } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

/**
 * False variants of every message that an agent can send. A new message type does not compile until it has false variants here.
 */
const messages: Readonly<Record<Tag, Told>> = { ...sessionLies, ...runLies }

interface Route {
  /**
   * The expected statuses for requests about the agent's own Run: with the other agent's digest, and with an unknown digest.
   */
  readonly fetched: number
  /** The expected status for an upload to the agent's own Run if the bytes do not match the digest. */
  readonly stored: number
}

/** Statuses for every kind of file in both directions. A new kind of file does not compile without a status. */
const routes: Readonly<Record<Kind, Route>> = {
  snapshot: { fetched: 404, stored: 400 },
  build: { fetched: 404, stored: 422 },
  state: { fetched: 404, stored: 422 },
  plan_file: { fetched: 404, stored: 422 },
  outcome: { fetched: 404, stored: 422 },
  left_over: { fetched: 404, stored: 410 }
}

/** Reads the parts of a Run that other people and agents can see. */
const standing = (claim: Claim) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [run] = yield* sql`SELECT status, fence, owner, error_code, last_event_batch,
        (SELECT COUNT(*) FROM run_events e WHERE e.run_id = r.id) AS events,
        (SELECT COUNT(*) FROM run_checkpoints c WHERE c.run_id = r.id) AS checkpoints
      FROM runs r WHERE id = ${claim.runId}`
    const [row] = yield* sql`SELECT agent_id, accepted_at, checkpoint_serial, result, ended_at FROM agent_runs
      WHERE run_id = ${claim.runId} AND fence = ${claim.fence}`
    return { run, row }
  })

plane.live(
  "a malicious agent can neither read nor change the Run of another agent, with any message or file",
  () =>
    Effect.gen(function* () {
      const told = yield* scene
      const { digests, held, honest, liar, own, stranger } = told
      const before = yield* standing(held)
      expect(before.run).toMatchObject({ status: "running", owner: honest.agentId })

      for (const [tag, { malformed }] of Object.entries(messages)) {
        for (const payload of malformed) {
          const answer = yield* liar.unchecked(tag, payload(told))
          const wasTaken = answer.status === 200 && answer.text.includes('"_tag":"Success"')
          expect({ tag, payload: payload(told), wasTaken }).toMatchObject({ wasTaken: false })
        }
      }
      for (const [tag, { lies }] of Object.entries(messages)) {
        for (const { name, tell } of lies) {
          yield* tell(told).pipe(
            Effect.catchCause((cause) => Effect.die(new Error(`${tag}, ${name}: ${String(cause)}`)))
          )
        }
      }

      // One of the false messages was a greeting, which ended the malicious agent's session, so the test starts a new
      // session.
      yield* liar.hello()
      for (const kind of BlobKind.literals) {
        const { fetched, stored } = routes[kind]
        const bytes = text("not sealed by anybody")
        for (const agent of [liar, stranger]) {
          for (const claim of [held, { ...held, fence: held.fence - 1 }, { ...own, fence: own.fence + 1 }]) {
            expect((yield* agent.get(claim, kind, digests[kind])).status).toBe(410)
            const put = yield* agent.send(claim, kind, digestOf(bytes), bytes, 0, bytes.length)
            expect(put.status).toBe(kind === "snapshot" ? 400 : 410)
          }
        }
        expect((yield* liar.get(own, kind, digests[kind])).status).toBe(fetched)
        expect((yield* liar.get(own, kind, digest)).status).toBe(fetched)
        expect((yield* liar.send(own, kind, digest, bytes, 0, bytes.length)).status).toBe(stored)
        // Larger than any limit, and larger than announced.
        if (stored === 422) {
          expect((yield* liar.send(own, kind, digest, bytes, 0, 1e13)).status).toBe(413)
        }
        for (const authorization of ["", "Bearer made-up"]) {
          const status = (yield* liar.get(own, kind, digests[kind], { authorization })).status
          expect([401, 404]).toContain(status)
        }
      }
      // Malformed names do not match any route.
      expect((yield* liar.get(own, "keys", digest)).status).toBe(404)
      expect((yield* liar.get(own, "state", "sha256:..%2F..%2Fsvc.db")).status).toBe(404)

      expect(yield* standing(held)).toEqual(before)
      expect((yield* standing(own)).run).toMatchObject({ status: "running", owner: liar.agentId })
      // The honest agent and the server still work.
      const blob = yield* honest.put(held, "state", stateFile(2))
      yield* honest.as(honest.client.Checkpoint({ ...held, serial: 2, resourceCount: 1, blob }))
      expect((yield* standing(held)).row).toMatchObject({ checkpoint_serial: 2 })
    }),
  240_000
)

test("every message in the protocol and every kind of file has false variants", () => {
  expect(Object.keys(messages).toSorted()).toEqual([...AgentProtocol.requests.keys()].toSorted())
  expect(Object.keys(routes).toSorted()).toEqual([...BlobKind.literals].toSorted())
  for (const { lies, malformed } of Object.values(messages)) {
    expect(lies.length).toBeGreaterThan(0)
    expect(malformed.length).toBeGreaterThan(0)
  }
})
