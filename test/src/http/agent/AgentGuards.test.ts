import { mkdirSync, readdirSync, renameSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, expect } from "bun:test"
import { Deferred, Effect, Fiber, Layer, Option, Schedule, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AgentBlobs } from "../../../../actors/running/agent/AgentBlobs.ts"
import { AgentFiles } from "../../../../actors/running/agent/AgentFiles.ts"
import { AgentLeases } from "../../../../actors/running/agent/AgentLeases.ts"
import { AgentControls } from "../../../../actors/running/agent/AgentControls.ts"
import { AgentMonitor } from "../../../../actors/running/agent/AgentMonitor.ts"
import { AgentOffers } from "../../../../actors/running/agent/AgentOffers.ts"
import { AgentSettlement } from "../../../../actors/running/agent/AgentSettlement.ts"
import { AgentSessions } from "../../../../actors/running/agent-pool/AgentSessions.ts"
import { ServerKeys } from "../../../../actors/running/agent-pool/ServerKeys.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunSettings } from "../../../../actors/ledger/run/RunSettings.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { longestReadHere } from "../../../../runner/document/Documents.ts"
import { suite } from "../../../support/Effect.ts"
import { longestParsedHere } from "../../../support/LongestParsed.ts"
import { settled } from "../../../support/Journey.ts"
import { after, applyingOn, approvedApply, begun, farPlane, offerTo, planOn, text, world } from "../support/FarPlane.ts"
import { digestOf, type TestAgent } from "../support/TestAgent.ts"

const plane = suite(farPlane)
afterAll(plane.dispose)

const often = Schedule.spaced("10 millis")
const failed = { kind: "plan", status: "failed", failure: runnerFailure("killed", "plan", "It was stopped.") } as const

/** Sends ten more requests, after which every earlier message has reached its handler. */
const laterAnswers = (agent: TestAgent) =>
  Effect.repeat(agent.as(agent.client.Renew({ held: [], disk: agent.facts.disk, draining: false })), { times: 9 })

plane.live("the server parses a long agent message once, on another thread, and responds to it", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const batch = { batch: 0, lines: ["x".repeat(2 * longestReadHere)] }
    const { longest, value } = yield* longestParsedHere(agent.unchecked("Report", { runId: "run_x", fence: 1, batch }))
    expect(value.status).toBe(200)
    expect(value.text).toContain('"_tag":"Exit"')
    expect(longest).toBeLessThan(longestReadHere)
    // The server must have removed the message after responding; otherwise it would respond to that message again.
    expect((yield* agent.as(agent.client.Challenge({ agentId: agent.agentId }))).nonce).toBeString()
  })
)

plane.live("an agent revoked after its request was admitted receives nothing", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const sessions = yield* AgentSessions
    const offers = yield* AgentOffers
    const session = yield* sessions.of(yield* agent.token)
    yield* begun("revoked-meanwhile")
    // The other agent declines its offer, so a Run is waiting and could be offered.
    const other = yield* enrolled()
    const { offer } = yield* offerTo(other)
    const back = { runId: offer.runId, fence: offer.fence, reason: "for somebody else" }
    yield* other.as(other.client.Decline(back))
    const sql = yield* SqlClient.SqlClient
    const revokedAt = (at: string | null) => sql`UPDATE agents SET revoked_at = ${at} WHERE id = ${agent.agentId}`
    const asked = Effect.timeoutOption(offers.next(session, { claim: agent.claim(), freePlaces: 1 }), "500 millis")
    yield* revokedAt("2026-01-01T00:00:00.000Z")
    expect(Option.flatten(yield* asked)).toEqual(Option.none())
    expect(yield* sql`SELECT run_id FROM agent_runs WHERE agent_id = ${agent.agentId}`).toEqual([])
    yield* revokedAt(null)
    const given = Option.getOrThrow(Option.flatten(yield* asked))
    expect(given.runId).toBe(offer.runId)
    yield* agent.as(agent.client.Accept({ runId: given.runId, fence: given.fence }))
    yield* agent.finish({ runId: given.runId, fence: given.fence }, failed, { lastBatch: 0 })
    yield* settled(given.runId)
  })
)

plane.live("an interrupted agent request is still carried out in full", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const leases = yield* AgentLeases
    yield* begun("cut")
    const { offer } = yield* offerTo(agent)
    const sql = yield* SqlClient.SqlClient
    const accepted = sql`SELECT 1 AS one FROM agent_runs WHERE run_id = ${offer.runId} AND fence = ${offer.fence}
      AND accepted_at IS NOT NULL`
    const held = yield* Deferred.make<void>()
    const letGo = yield* Deferred.make<void>()
    // The request is interrupted while the handler waits for its turn.
    const turn = yield* Effect.forkScoped(
      leases.decided(Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(letGo)))
    )
    yield* Deferred.await(held)
    const request = yield* agent.cuttable("Accept", { runId: offer.runId, fence: offer.fence })
    yield* laterAnswers(agent)
    expect(yield* request.cut).toBe("cut")
    yield* laterAnswers(agent)
    expect(yield* accepted).toEqual([])
    yield* Deferred.succeed(letGo, undefined)
    yield* Fiber.join(turn)
    yield* Effect.repeat(accepted, { until: (rows) => rows.length === 1, schedule: often }).pipe(
      Effect.timeout("10 seconds")
    )
    yield* agent.finish(offer, failed, { lastBatch: 0 })
    yield* settled(offer.runId)
  })
)

plane.live("an interrupted greeting can be repeated, and an abandoned plan starts over only once", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const leases = yield* AgentLeases
    yield* begun("left")
    const { offer } = yield* offerTo(agent)
    yield* agent.as(agent.client.Accept(offer))
    const left = { runId: offer.runId, fence: offer.fence, stage: "left" as const }
    const held = yield* Deferred.make<void>()
    const letGo = yield* Deferred.make<void>()
    const turn = yield* Effect.forkScoped(
      leases.decided(Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(letGo)))
    )
    yield* Deferred.await(held)
    const cut = yield* Effect.forkScoped(agent.hello([left]))
    yield* Effect.repeat(Effect.sleep("20 millis"), { times: 10 })
    yield* Fiber.interrupt(cut)
    yield* Deferred.succeed(letGo, undefined)
    yield* Fiber.join(turn)
    const { orders } = yield* agent.hello([left])
    expect(orders).toMatchObject([{ order: "discard" }])
    const { offer: again } = yield* offerTo(agent)
    expect(again.runId).toBe(offer.runId)
    expect(again.fence).toBe(offer.fence + 1)
    yield* agent.as(agent.client.Accept(again))
    yield* agent.finish(again, failed, { lastBatch: 0 })
    yield* settled(again.runId)
  })
)

plane.live("a claim that lost its lease gets a new lease, which expires like any other lease", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const leases = yield* AgentLeases
    const monitor = yield* AgentMonitor
    yield* begun("unleased")
    const { offer } = yield* offerTo(agent)
    const own = Effect.map(leases.all, (all) => all.find(({ runId }) => runId === offer.runId))
    // Simulates an interruption before the lease was granted.
    yield* leases.end(offer)
    expect(yield* own).toBeUndefined()
    yield* monitor.look
    expect(yield* own).toMatchObject({ fence: offer.fence, isAccepted: false })
    yield* after(31, monitor.look)
    const other = yield* enrolled()
    const { offer: again } = yield* offerTo(other)
    expect(again).toMatchObject({ runId: offer.runId })
    yield* other.as(other.client.Accept(again))
    yield* other.finish(again, failed, { lastBatch: 0 })
    yield* settled(again.runId)
  })
)

plane.live(
  "a result that is temporarily unreadable on disk is settled later",
  () =>
    Effect.gen(function* () {
      const { enrolled } = yield* world
      const agent = yield* enrolled()
      const settlement = yield* AgentSettlement
      const { runsFolder } = yield* RunSettings
      const folder = (claim: { readonly runId: string; readonly fence: number }) =>
        join(dirname(runsFolder), "agent-blobs", `${claim.runId}-${claim.fence}`)
      yield* begun("unread")
      const { offer } = yield* offerTo(agent)
      yield* agent.as(agent.client.Accept(offer))
      const claim = { runId: offer.runId, fence: offer.fence }
      const leases = yield* AgentLeases
      const sql = yield* SqlClient.SqlClient
      // The file becomes unreadable after svc has acknowledged the result and before it settles the Run.
      const stored = sql`SELECT result FROM agent_runs WHERE run_id = ${claim.runId} AND result IS NOT NULL`
      const outcome = yield* agent.put(claim, "outcome", text(JSON.stringify(yield* encodedFailure)))
      const file = join(folder(claim), `outcome-${outcome.slice("sha256:".length)}`)
      yield* sql`UPDATE agent_runs SET result = ${JSON.stringify({ outcome })} WHERE run_id = ${claim.runId}`
      yield* leases.end(claim)
      renameSync(file, `${file}.away`)
      // Reading a symbolic link to itself fails, but not with "not found".
      symlinkSync(file, file)
      expect(yield* stored).toHaveLength(1)
      // Starts the settlement in the same way as a request. The server responds to the request before the settlement has
      // finished.
      yield* Effect.uninterruptible(settlement.begin(claim))
      const status = Effect.map(
        sql<{ status: string }>`SELECT status FROM runs WHERE id = ${claim.runId}`,
        (rows) => rows[0]?.status
      )
      // Checks often enough that the first attempts are certainly over.
      for (let look = 0; look < 2000; look += 1) expect(yield* status).toBe("running")
      // Renames the file in one step. If the file were missing even briefly, svc would treat the result as lost.
      renameSync(`${file}.away`, file)
      const run = yield* settled(claim.runId)
      expect(run.status).toBe("failed")
      // The Run ended with the error that its result reports, so it was not settled forcibly.
      expect(run.error?.message).toContain("It was stopped.")
      yield* settlement.idle
    }),
  60_000
)

const encodedFailure = Effect.succeed({
  kind: "plan",
  status: "failed",
  failure: {
    _tag: "RunnerFailure",
    reason: "killed",
    phase: "plan",
    message: "It was stopped.",
    diagnostics: [],
    sandboxKilled: false
  }
})

plane.live("the server stores only files that it needs, and accepts no more bytes than announced", () =>
  Effect.gen(function* () {
    const blobs = yield* AgentBlobs
    const { runsFolder } = yield* RunSettings
    const claim = { runId: RunId.make("run_00000000000000000000000003"), fence: 1 }
    const folder = join(dirname(runsFolder), "agent-blobs", `${claim.runId}-${claim.fence}`)
    const put = (kind: "state" | "plan_file", words: string, total = words.length) => {
      const bytes = text(words)
      return blobs.put(claim, kind, digestOf(bytes), { from: 0, total, bytes: Stream.make(bytes) })
    }
    for (const words of ["state one", "state two", "state three"]) {
      expect(yield* put("state", words)).toMatchObject({ complete: true })
      yield* put("plan_file", `plan of ${words}`)
    }
    const names = readdirSync(folder)
    expect(names.filter((name) => name.startsWith("state-"))).toHaveLength(2)
    expect(names.filter((name) => name.startsWith("plan_file-"))).toHaveLength(1)
    // The server keeps only the newest states.
    expect(yield* blobs.isComplete(claim, "state", digestOf(text("state three")))).toBe(true)
    expect(yield* blobs.isComplete(claim, "state", digestOf(text("state one")))).toBe(false)
    const long = yield* Effect.flip(put("state", "longer than it says", 5))
    expect(long).toMatchObject({ _tag: "BlobRefused", reason: "too_large" })
    const other = text("these bytes")
    const wrong = blobs.put(claim, "state", digestOf(text("other bytes")), {
      from: 0,
      total: other.length,
      bytes: Stream.make(other)
    })
    expect(yield* Effect.flip(wrong)).toMatchObject({ reason: "wrong_digest" })
    // Sending the blob again from the beginning completes it.
    yield* put("state", "other bytes")
    yield* blobs.removeAll(claim)
  })
)

plane.live("an interrupted transfer continues after the server has been restarted", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const id = yield* begun("continued")
    const { offer } = yield* offerTo(agent)
    yield* planOn(agent, offer)
    const { apply } = yield* approvedApply(id)
    const { offer: given } = yield* offerTo(agent)
    expect(given.runId).toBe(apply.id)
    yield* agent.as(agent.client.Accept(given))
    const digest = given.planFile ?? ""
    const whole = yield* agent.fetched(given, "plan_file", digest)
    const sent = yield* agent.get(given, "plan_file", digest)
    const first = new Uint8Array(yield* Effect.promise(() => sent.arrayBuffer()))
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ seal_key: string }>`SELECT seal_key FROM agents WHERE id = ${agent.agentId}`
    expect(row?.seal_key).toBe(agent.keys.seal)
    // Simulates a restart of the server process: the keys are read again, and no part of the transfer is in memory.
    const restarted = yield* Effect.gen(function* () {
      const files = yield* AgentFiles
      const sessions = yield* AgentSessions
      const session = yield* sessions.of(yield* agent.token)
      const found = yield* files.find(session, { runId: given.runId, fence: given.fence }, "plan_file", digest)
      return Option.getOrThrow(found)
    }).pipe(Effect.provide(Layer.fresh(AgentFiles.layer).pipe(Layer.provide(Layer.fresh(ServerKeys.layer)))))
    // Resumes after the header, because svc writes a different header each time that it seals a file.
    const half = first.indexOf(0x0a) + 5
    const rest = yield* Stream.runCollect(restarted.bytes(half))
    const continued = new Uint8Array(Buffer.concat([first.subarray(0, half), ...rest]))
    expect(restarted.totalBytes).toBe(first.length)
    expect(yield* agent.openedFile(given, "plan_file", continued)).toEqual(whole)
    const claim = { runId: given.runId, fence: given.fence }
    yield* agent.finish(claim, { kind: "apply", status: "left", left: null }, { lastBatch: 0 })
    yield* settled(given.runId)
  })
)

plane.live("a second apply fails if it was never started, unless it is about to start", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const monitor = yield* AgentMonitor
    const id = yield* begun("second")
    const { offer } = yield* offerTo(agent)
    yield* planOn(agent, offer)
    const { apply } = yield* approvedApply(id)
    const { offer: first } = yield* offerTo(agent)
    yield* agent.as(agent.client.Accept(first))
    yield* after(61, monitor.look)
    const { offer: second } = yield* offerTo(agent)
    expect(second.runId).toBe(apply.id)
    yield* agent.as(agent.client.Accept(second))
    const sql = yield* SqlClient.SqlClient
    const [started] = yield* Effect.all(
      [Effect.result(agent.as(agent.client.Start(second))), after(61, monitor.look)] as const,
      { concurrency: 2 }
    )
    const [run] = yield* sql<{ status: string; started: string | null }>`SELECT status,
      start_acknowledged_at AS started FROM runs WHERE id = ${apply.id}`
    // Either the tool may start and the Run belongs to this agent, or the Run has ended, but never both.
    expect(run?.status === "running" && run.started !== null).toBe(started._tag === "Success")
    expect(run?.status === "failed" && run.started === null).toBe(started._tag === "Failure")
    yield* monitor.release(apply.id)
    yield* settled(apply.id)
  })
)

plane.live("an apply whose start was recorded is never settled as having changed nothing", () =>
  Effect.gen(function* () {
    const { enrolled } = yield* world
    const agent = yield* enrolled()
    const controls = yield* AgentControls
    const ledger = yield* RunLedger
    const monitor = yield* AgentMonitor
    const { claim } = yield* applyingOn(agent, "late")
    const run = yield* ledger.held({ ...claim, owner: agent.agentId })
    if (run === undefined) return yield* Effect.die(new Error("The Run is not held"))
    // The row as another fiber would have read it before the start.
    const stale = { ...run, start_acknowledged_at: null }
    const late = yield* Effect.flip(controls.failed(stale, { code: "agent_lost", message: "nothing was changed" }))
    expect(late).toMatchObject({ _tag: "HoldLost" })
    expect((yield* ledger.find(claim.runId))?.status).toBe("running")
    yield* monitor.release(claim.runId)
    yield* settled(claim.runId)
  })
)

// Must be the last test, because it removes files that the other tests may need.
plane.live("cleanup removes only files that belong to no claim", () =>
  Effect.gen(function* () {
    const { runsFolder } = yield* RunSettings
    const folder = (claim: { readonly runId: string; readonly fence: number }) =>
      join(dirname(runsFolder), "agent-blobs", `${claim.runId}-${claim.fence}`)
    const blobs = yield* AgentBlobs
    const kept = { runId: RunId.make("run_00000000000000000000000001"), fence: 1 }
    const nobodys = { runId: RunId.make("run_00000000000000000000000002"), fence: 1 }
    for (const one of [kept, nobodys, { ...kept, fence: 2 }]) mkdirSync(folder(one), { recursive: true })
    yield* blobs.sweep([kept])
    expect(readdirSync(dirname(folder(kept)))).toEqual([`${kept.runId}-${kept.fence}`])
  })
)
