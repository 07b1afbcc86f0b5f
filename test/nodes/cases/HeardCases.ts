import { Effect, Fiber, FileSystem, Schedule, Schema, Stream } from "effect"
import { followEvents } from "../../../src/client/index.ts"
import { demoAccount } from "../../../src/cli/demo/DemoSession.ts"
import { Broken, holds } from "../../crash/CrashClient.ts"
import { judged } from "../support/History.ts"
import { planned, succeeds } from "../support/Progress.ts"
import type { NodesWorld } from "../support/NodesWorld.ts"
import type { NodesCase } from "./NodesCase.ts"

/** Maximum time, in milliseconds, until another server shows a write. */
const eventWithin = 200
const cancelWithin = 2000
const revokedWithin = 1000

const urls = (world: NodesWorld) => Effect.forEach(world.nodes, ({ serving }) => Effect.map(serving, ({ url }) => url))

const events: NodesCase = {
  name: "the events of a Run arrive at every node when they arrive at the node that wrote them",
  isShort: true,
  run: Effect.fnUntraced(function* (world, label) {
    const { planRunId } = yield* planned(world, label)
    yield* world.hold(`${label}-a`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-a`)
    const watchers = yield* Effect.forEach(yield* urls(world), (baseUrl) => {
      const seen = new Map<number, number>()
      return Effect.as(
        Effect.forkScoped(
          Stream.runForEach(followEvents({ baseUrl, token: world.token }, applyId, 0), ({ seq }) =>
            Effect.sync(() => seen.set(seq, performance.now()))
          )
        ),
        seen
      )
    })
    // Waits until the watchers have received everything that was written before they connected.
    yield* Effect.sleep("1 second")
    const before = Math.max(...watchers.flatMap((seen) => [...seen.keys()]))
    yield* world.letGo(`${label}-a`)
    yield* succeeds(world, applyId)
    yield* Effect.sleep("1 second")
    const numbers = [...(watchers[0]?.keys() ?? [])].filter((seq) => seq > before)
    const lags = numbers.map((seq) => {
      const times = watchers.map((seen) => seen.get(seq) ?? Number.POSITIVE_INFINITY)
      return Math.max(...times) - Math.min(...times)
    })
    const sorted = lags.toSorted((a, b) => a - b)
    const median = sorted[Math.floor(sorted.length / 2)] ?? Number.POSITIVE_INFINITY
    yield* holds(
      numbers.length > 3 && median <= eventWithin && sorted.every((lag) => Number.isFinite(lag)),
      `${numbers.length} events, at the other nodes after ${sorted.map(Math.round).join(", ")} ms`
    )
    yield* judged(world, [])
  })
}

const cancel: NodesCase = {
  name: "a cancel at one node stops an apply that an agent executes for another",
  isShort: false,
  run: Effect.fnUntraced(function* (world, label) {
    const { planRunId } = yield* planned(world, label)
    yield* world.hold(`${label}-a`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-a`)
    const run = yield* world.run(applyId)
    const [, , url = ""] = yield* urls(world)
    const other = yield* world.clientOf(url)
    yield* other.runs.cancel({ params: { runId: run.id }, payload: {} })
    // The tool is held for this time. The cancellation must have arrived by then, so the tool must stop.
    yield* Effect.sleep(cancelWithin)
    yield* world.letGo(`${label}-a`)
    const { status } = yield* world.over(run.id)
    yield* holds(status === "cancelled", `The cancelled apply is ${status}`)
    yield* judged(world, [])
  })
}

const Made = Schema.Struct({ token: Schema.String, token_record: Schema.Struct({ token_id: Schema.String }) })

const revoked: NodesCase = {
  name: "a stream at one node ends when its token is revoked at another",
  isShort: true,
  run: Effect.fnUntraced(function* (world, label) {
    const { planRunId } = yield* planned(world, label)
    yield* world.hold(`${label}-a`)
    const applyId = yield* world.applied(planRunId)
    yield* world.held(`${label}-a`)
    const [one = "", two = ""] = yield* urls(world)
    const asked = (url: string, path: string, body: Schema.Json, cookie = "") =>
      Effect.promise(() =>
        fetch(`${url}${path}`, {
          method: "POST",
          headers: { "content-type": "application/json", origin: world.first.url, cookie },
          body: JSON.stringify(body)
        })
      )
    const cookie = (yield* asked(one, "/auth/sign-in", demoAccount)).headers
      .getSetCookie()
      .map((set) => set.split(";")[0])
      .join("; ")
    const answer = yield* asked(one, "/api/v1/account/tokens", { name: label, scopes: ["read"] }, cookie)
    const made = yield* Schema.decodeUnknownEffect(Made)(yield* Effect.promise(() => answer.json()))
    const stream = yield* Effect.promise(() =>
      fetch(`${two}/api/v1/runs/${applyId}/events?after=0`, {
        headers: { accept: "text/event-stream", authorization: `Bearer ${made.token}` }
      })
    )
    yield* holds(stream.ok, `The stream was answered with ${stream.status}`)
    const ended = yield* Effect.forkScoped(
      Effect.promise(async () => {
        for await (const _ of stream.body ?? []);
        return performance.now()
      })
    )
    yield* Effect.sleep("1 second")
    const path = `/api/v1/account/tokens/${made.token_record.token_id}/revoke`
    yield* holds((yield* asked(one, path, {}, cookie)).ok, "The token was not revoked")
    const at = performance.now()
    const passed =
      (yield* Fiber.join(ended).pipe(
        Effect.timeoutOrElse({
          duration: "20 seconds",
          orElse: () => new Broken({ message: "The stream of a revoked token goes on" })
        })
      )) - at
    yield* holds(passed <= revokedWithin, `The stream ended ${Math.round(passed)} ms after its token`)
    yield* world.letGo(`${label}-a`)
    yield* succeeds(world, applyId)
    yield* judged(world, [])
  })
}

const Policy = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ baseConfigs: Schema.Array(Schema.Json) }), [
    Schema.Record(Schema.String, Schema.Json)
  ])
)

const policy: NodesCase = {
  name: "every node reads its policy again when an operator has one of them do so, and none makes a key for itself",
  isShort: false,
  run: Effect.fnUntraced(function* (world, label) {
    const files = yield* FileSystem.FileSystem
    const file = `${world.folder}/policy.json`
    const present = yield* Schema.decodeEffect(Policy)(yield* files.readFileString(file))
    const added = { name: label, origin: "https://other.example", variables: {} }
    const next = { ...present, baseConfigs: [...present.baseConfigs, added] }
    yield* files.writeFileString(file, yield* Schema.encodeEffect(Policy)(next))
    yield* world.operator("reload")
    for (const url of yield* urls(world)) {
      const client = yield* world.clientOf(url)
      const query = { workspaceId: world.workspace.id }
      const named = Effect.map(client.capsules.configs({ query }), ({ capsuleConfigs }) =>
        capsuleConfigs.some(({ operator }) => operator?.name === label)
      )
      yield* Effect.repeat(named, { until: (isRead) => isRead, schedule: Schedule.spaced("50 millis") }).pipe(
        Effect.timeoutOrElse({
          duration: "5 seconds",
          orElse: () => new Broken({ message: `${url} has not read the policy again` })
        })
      )
    }
    const before = yield* world.query("SELECT DISTINCT master_key_id FROM vault_data_keys")
    yield* holds((yield* world.operator("rotate-keys")) === "", "A node has made a key that the others do not have")
    yield* holds(
      JSON.stringify(yield* world.query("SELECT DISTINCT master_key_id FROM vault_data_keys")) ===
        JSON.stringify(before),
      "The keys have changed"
    )
    yield* judged(world, [])
  })
}

const named: NodesCase = {
  name: "an operator's command prints the name of the node that answered it",
  isShort: true,
  run: Effect.fnUntraced(function* (world) {
    const rows = yield* world.query("SELECT id, label FROM nodes WHERE gone_at IS NULL")
    const printed = yield* Effect.forEach(world.nodes, ({ folder, serving }) =>
      Effect.gen(function* () {
        yield* serving
        const told = yield* world.told(["admin", "reload", "--data-dir", folder])
        return told.stderr.trim()
      })
    )
    const known = rows.map(({ id, label }) => `Answered by ${String(id)} on ${String(label)}.`)
    yield* holds(
      new Set(printed).size === world.nodes.length && printed.every((line) => known.includes(line)),
      `The commands printed ${printed.join(" ")} The nodes are ${known.join(" ")}`
    )
  })
}

export const heardCases: ReadonlyArray<NodesCase> = [events, cancel, revoked, policy, named]
