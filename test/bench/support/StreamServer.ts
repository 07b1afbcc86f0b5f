// A server with one Run that never finishes, and a minimal server without the service in the same process. Reads one command
// per line: `paced N` appends N events to the Run at 50 per second, `burst N` appends N events at once, `bare N` publishes N
// identical messages on the bare server. Every event contains its creation time.
import { NodeRuntime } from "@effect/platform-node"
import { Clock, Console, Context, Effect, Redacted, Schedule, Stdio, Stream } from "effect"
import { RunJournal } from "../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../actors/ledger/run/RunLifecycle.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { heldRun } from "../../support/HeldRuns.ts"
import { embedded } from "./Embedded.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { namedCapsule } from "../../support/NamedIds.ts"

const runId = RunId.make(`run_${"b".repeat(24)}`)

const bareServer = Effect.acquireRelease(
  Effect.sync(() =>
    Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: (request, server) => (server.upgrade(request) ? undefined : new Response(null, { status: 400 })),
      websocket: {
        perMessageDeflate: false,
        open: (socket) => void socket.subscribe("all"),
        message: () => {}
      }
    })
  ),
  (server) => Effect.promise(() => server.stop(true))
)

const program = Effect.gen(function* () {
  const plane = yield* embedded
  const bare = yield* bareServer
  const journal = Context.get(plane.services, RunJournal)
  yield* Context.get(plane.services, RunLedger).insert({
    id: runId,
    workspaceId: plane.workspaceId,
    type: "plan",
    capsuleId: namedCapsule("none"),
    trigger: "user",
    spec: {}
  })
  // Bypasses the queue: an owner claims the Run but does not execute it.
  const hold = yield* heldRun(runId).pipe(
    Effect.provideService(RunLifecycle, Context.get(plane.services, RunLifecycle))
  )
  yield* Console.log(JSON.stringify({ url: plane.url, barePort: bare.port, runId, token: Redacted.value(plane.token) }))
  // The creation time is sent in the only numeric field of the event.
  const payload = (at: number) => ({
    address: `terraform_data.${"x".repeat(150)}[${at}]`,
    action: "create",
    elapsedSeconds: performance.timeOrigin + performance.now()
  })
  const append = Effect.flatMap(Clock.currentTimeMillis, (at) => journal.note(hold, "resource.progress", payload(at)))
  const publish = Effect.sync(() => {
    const data = payload(0)
    bare.publish(
      "all",
      JSON.stringify({ events: [{ seq: 1, at: new Date().toISOString(), kind: "resource.progress", data }] })
    )
  })
  const obey = (line: string) => {
    const [command, count = "0"] = line.split(" ")
    const times = Number(count) - 1
    if (command === "paced") return Effect.repeat(append, Schedule.fixed("20 millis").pipe(Schedule.upTo({ times })))
    return Effect.repeat(command === "burst" ? append : publish, { times })
  }
  const { stdin } = yield* Stdio.Stdio
  yield* stdin.pipe(Stream.decodeText(), Stream.splitLines, Stream.runForEach(obey))
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(platform)))
