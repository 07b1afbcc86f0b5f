import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../actors/ledger/dependency/Dependencies.ts"
import { OutputShares } from "../../actors/ledger/output-share/OutputShares.ts"
import { readWorkspaceGraph } from "../../actors/ledger/workspace/WorkspaceGraph.ts"
import { suite } from "../support/Effect.ts"
import { settled } from "../support/Journey.ts"
import { namedCapsule } from "../support/NamedIds.ts"
import { applied, Bench, deployed, hostedPlane, outputsOf } from "./support/HostedPlane.ts"
import type { CapsuleId } from "../../schema/records/Ids.ts"
import { CapsuleCommands } from "../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(hostedPlane)
afterAll(tests.dispose)

const from = { from: "greeting", to: "greeting", required: true }

/** Creates a new plan for the Capsule and applies it. */
const renewed = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* Bench
  const plan = yield* settled((yield* (yield* CapsuleCommands).Plan(capsuleId, { context })).value.id)
  if (plan.status !== "waiting_approval") return plan
  return yield* applied(plan.id)
})

describe("Shared Outputs", () => {
  tests.live("a Capsule injects Outputs of its own Workspace, shows them in the graph, and rejects cycles", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* Bench
      const dependencies = yield* Dependencies
      const producer = yield* deployed("producer", "plain/producer")
      const consumer = yield* deployed("consumer", "plain/consumer")
      expect((yield* outputsOf(consumer.capsuleId))["greeting"]).toBe("from the default")
      const create = (request: Partial<Parameters<typeof dependencies.create>[2]>) =>
        dependencies.create(context, consumer.capsuleId, {
          producerCapsuleId: producer.capsuleId,
          mode: "published_output",
          outputs: [from],
          ...request
        })
      const refusals = yield* Effect.forEach(
        [
          create({ producerCapsuleId: consumer.capsuleId }),
          create({ producerCapsuleId: namedCapsule("unknown") }),
          create({ outputs: [] }),
          create({ outputs: [{ ...from, from: "nothing" }] }),
          create({ outputs: [{ ...from, to: "nothing" }] }),
          create({ outputs: [{ ...from, from: "secret" }] }),
          create({ outputs: [from, from] }),
          create({ mode: "remote_state" })
        ],
        (refused) => Effect.map(Effect.flip(refused), ({ code }) => code)
      )
      expect(refusals).toEqual([
        "failed_precondition",
        "invalid_request",
        "invalid_request",
        "invalid_request",
        "invalid_request",
        "invalid_request",
        "failed_precondition",
        "invalid_request"
      ])
      const made = yield* create({})
      const back = dependencies.create(context, producer.capsuleId, {
        producerCapsuleId: consumer.capsuleId,
        mode: "remote_state",
        outputs: []
      })
      expect((yield* Effect.flip(back)).code).toBe("failed_precondition")
      expect((yield* renewed(consumer.capsuleId)).status).toBe("succeeded")
      expect((yield* outputsOf(consumer.capsuleId))["greeting"]).toBe("from the producer")
      const graph = yield* readWorkspaceGraph(workspaceId)
      expect(graph.edges.filter(({ mode }) => mode !== "source")).toEqual([
        { id: made.id, from: producer.capsuleId, to: consumer.capsuleId, mode: "published_output" }
      ])
      const listed = yield* dependencies.list(producer.capsuleId, { limit: 10 })
      expect(listed.items.map(({ id }) => id)).toEqual([made.id])
      yield* dependencies.remove(context, made.id)
      expect((yield* Effect.flip(dependencies.remove(context, made.id))).code).toBe("not_found")
    })
  )

  tests.live(
    "a share delivers values to another Workspace only once that Workspace has approved it, and until it is revoked",
    () =>
      Effect.gen(function* () {
        const { context, otherWorkspaceId, workspaceId } = yield* Bench
        const dependencies = yield* Dependencies
        const shares = yield* OutputShares
        const producer = yield* deployed("sharer", "plain/producer")
        const consumer = yield* deployed("receiver", "plain/consumer", { workspaceId: otherWorkspaceId })
        const request = {
          fromWorkspaceId: workspaceId,
          toWorkspaceId: otherWorkspaceId,
          producerCapsuleId: producer.capsuleId,
          outputs: [{ name: "greeting", alias: "hello" }]
        }
        const secret = shares.create(context, { ...request, outputs: [{ name: "secret" }] })
        expect((yield* Effect.flip(secret)).code).toBe("invalid_request")
        const self = shares.create(context, { ...request, toWorkspaceId: workspaceId })
        expect((yield* Effect.flip(self)).code).toBe("invalid_request")
        const foreign = shares.create(context, {
          ...request,
          fromWorkspaceId: otherWorkspaceId,
          toWorkspaceId: workspaceId
        })
        expect((yield* Effect.flip(foreign)).code).toBe("invalid_request")

        const offered = yield* shares.create(context, request)
        const depend = dependencies.create(context, consumer.capsuleId, {
          producerCapsuleId: producer.capsuleId,
          mode: "variable_injection",
          outputs: [{ from: "hello", to: "greeting", required: true }]
        })
        // An offer alone discloses nothing, not even the existence of the Capsule.
        expect((yield* Effect.flip(depend)).code).toBe("invalid_request")
        expect((yield* Effect.flip(shares.approve(context, offered.id, workspaceId))).code).toBe("permission_denied")
        expect((yield* shares.approve(context, offered.id, otherWorkspaceId)).status).toBe("active")
        expect((yield* Effect.flip(shares.approve(context, offered.id, otherWorkspaceId))).code).toBe(
          "failed_precondition"
        )
        yield* depend
        expect((yield* renewed(consumer.capsuleId)).status).toBe("succeeded")
        expect((yield* outputsOf(consumer.capsuleId))["greeting"]).toBe("from the producer")
        expect((yield* dependencies.list(producer.capsuleId, { limit: 10 })).items).toEqual([])

        const capsules = yield* Capsules
        expect((yield* capsules.read(consumer.capsuleId)).staleReasons).toEqual([])
        expect((yield* shares.revoke(context, offered.id, workspaceId)).status).toBe("revoked")
        // The value from the last apply is no longer available, so the Capsule becomes stale at once, even across Workspaces.
        const { staleReasons, status } = yield* capsules.read(consumer.capsuleId)
        expect([status, staleReasons]).toEqual([
          "stale",
          [{ kind: "input", producerCapsuleId: producer.capsuleId, output: "hello" }]
        ])
        expect((yield* Effect.flip(shares.approve(context, offered.id, otherWorkspaceId))).code).toBe(
          "failed_precondition"
        )
        const blocked = yield* renewed(consumer.capsuleId)
        expect(blocked.status).toBe("failed")
        expect(blocked.error?.code).toBe("missing_input")
        for (const id of [workspaceId, otherWorkspaceId]) {
          expect((yield* shares.list(id, { limit: 10 })).items.map(({ status }) => status)).toEqual(["revoked"])
        }
      })
  )
})
