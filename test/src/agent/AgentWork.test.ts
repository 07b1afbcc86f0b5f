import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Context, Deferred, Effect, Layer, Schema } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { AgentFolder } from "../../../runner/agent/AgentFolder.ts"
import { AgentParty } from "../../../runner/agent/AgentParty.ts"
import { Guard } from "../../../runner/agent/guard/Guard.ts"
import { JobFiles } from "../../../runner/agent/JobFiles.ts"
import { type Lease, machineClocks } from "../../../runner/agent/LeaseClock.ts"
import { ServerConnection } from "../../../runner/agent/ServerConnection.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { ModuleRunner } from "../../../runner/execution/ModuleRunner.ts"
import { RunPlace } from "../../../runner/execution/RunPlace.ts"
import { ApplyJob } from "../../../runner/execution/RunJob.ts"
import { AgentRuns } from "../../../src/agent/AgentRuns.ts"
import { AgentWork } from "../../../src/agent/AgentWork.ts"
import { RetryUntilAnswered } from "../../../src/agent/RetryUntilAnswered.ts"
import { MachineFacts } from "../../../src/agent/MachineFacts.ts"
import { job, offer, sealingParty } from "../../runner/agent/support/OfferedApply.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { steadySession } from "./support/SteadySession.ts"

const encodeJob = Schema.encodeEffect(Schema.fromJsonString(ApplyJob))

/** Seconds from the first request for an offer until the agent kills the tool, unless the lease is renewed. */
const killedAfterSeconds = 24

/** Runs an agent whose server answers `Next` with this response. `leased` completes with the lease of the first offer. */
const polling = Effect.fnUntraced(function* (next: (claim: string) => Effect.Effect<Response>) {
  const leased = yield* Deferred.make<Lease>()
  const text = new TextEncoder().encode(yield* encodeJob(job))
  const client = HttpClient.make((request) =>
    Effect.gen(function* () {
      const sent = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : "{}"
      const { id, payload, tag } = JSON.parse(sent)
      if (tag !== "Next" || (yield* Deferred.isDone(leased))) return yield* Effect.never
      const answer = yield* next(payload.claim)
      if (!answer.ok) return HttpClientResponse.fromWeb(request, answer)
      const exit = {
        _tag: "Exit",
        requestId: id,
        exit: { _tag: "Success", value: yield* Effect.promise(() => answer.json()) }
      }
      return HttpClientResponse.fromWeb(request, new Response(`${JSON.stringify(exit)}\n`))
    })
  )
  const services = Layer.mergeAll(
    NodeServices.layer,
    AgentFolder.layerAt(yield* temporaryFolder),
    Layer.effect(
      AgentParty,
      Effect.map(sealingParty, (party) => ({ ...party, open: () => Effect.succeed({ bytes: text, keys: [] }) }))
    ),
    Layer.mock(AgentRuns)({
      all: () => [],
      working: () => 0,
      holds: () => false,
      add: (opening) =>
        Effect.gen(function* () {
          const { lease } = (yield* opening) ?? {}
          if (lease !== undefined) yield* Deferred.succeed(leased, lease)
        }).pipe(Effect.scoped)
    }),
    Layer.mock(MachineFacts)({
      disk: Effect.succeed({ freeBytes: 1, totalBytes: 1, low: false }),
      isDraining: () => false
    }),
    Layer.mock(ModuleRunner)({ confinement: () => Effect.succeed({ isolation: "process", network: "host" }) }),
    Layer.mock(RunPlace)({ tool: () => Effect.succeed("tofu") }),
    Layer.mock(ServerConnection)({}),
    Layer.mock(JobFiles)({}),
    Layer.mock(BuildStore)({}),
    Layer.mock(Guard)({})
  )
  const work = yield* Layer.build(
    AgentWork.layer(1).pipe(
      Layer.provide(RetryUntilAnswered.layer),
      Layer.provide(steadySession),
      Layer.provide(services),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
    )
  ).pipe(Effect.map(Context.get(AgentWork)))
  yield* Effect.forkScoped(work.takeJobs)
  return Deferred.await(leased)
})

describe("Agent work", () => {
  it.live(
    "the lease of an offer starts at the first request for the offer, even if the agent repeats the request",
    () =>
      Effect.gen(function* () {
        const asked: Array<{ readonly claim: string; readonly at: number }> = []
        const leased = yield* polling((claim) =>
          Effect.sync(() => {
            asked.push({ claim, at: machineClocks.bootSeconds() })
            return asked.length < 3 ? new Response(null, { status: 502 }) : Response.json({ drain: false, offer })
          })
        )
        const lease = yield* leased
        const [first, , last] = asked
        // The server made the offer in response to the first request. That response was lost, so the server will give the
        // offer to another agent 30 s later.
        expect(new Set(asked.map(({ claim }) => claim)).size).toBe(1)
        expect(last?.at).toBeGreaterThan(first?.at ?? Number.POSITIVE_INFINITY)
        expect(lease.killAtBoot() - killedAfterSeconds).toBeLessThanOrEqual(first?.at ?? Number.NEGATIVE_INFINITY)
      })
  )
})
