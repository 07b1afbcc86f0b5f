import { Clock, Deferred, Effect, Fiber, FileSystem, Redacted, Ref, Schedule, Schema } from "effect"
import { WebSocket } from "ws"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { type Figure, median, percentile } from "./support/Figures.ts"
import { module, repositoryOf } from "./support/Modules.ts"
import { startProduct } from "./support/Product.ts"

const million = 1_000_000
const timedLines = 300
const quietCommands = 60
// The interval between changes, long enough to stay below an account's limit per minute.
const commandEvery = "150 millis"
// After this time, the parser thread that the Run's scan started has exited, however fast the lines were processed.
const settle = "10 seconds"

const Frame = Schema.fromJsonString(
  Schema.Struct({ entries: Schema.optionalKey(Schema.Array(Schema.Struct({ text: Schema.String }))) })
)
const decodeFrame = Schema.decodeSync(Frame)
const decodeWorkspaceId = Schema.decodeEffect(WorkspaceId)

type Product = Effect.Success<ReturnType<typeof startProduct>>

/** A tool whose plan prints the given text and then fails. It passes all other commands to the real tool. */
const talkingTool = Effect.fnUntraced(function* (folder: string, tool: string, name: string, plan: string) {
  const files = yield* FileSystem.FileSystem
  const path = `${folder}/${name}`
  yield* files.makeDirectory(path)
  // Named like the real tool, because the service identifies the tool by its name.
  const program = `${path}/${tool.slice(tool.lastIndexOf("/") + 1)}`
  yield* files.writeFileString(program, `#!/bin/sh\nif [ "$1" = plan ]; then\n${plan}\nexit 1\nfi\nexec ${tool} "$@"\n`)
  yield* files.chmod(program, 0o755)
  return program
})

/** Starts a Run whose plan prints, and returns its id once it is running. */
export const startRun = Effect.fnUntraced(function* (product: Product, url: string) {
  const { installPlan } = yield* product.client.installPlans.create({
    params: { workspaceId: product.workspaceId },
    headers: { "idempotency-key": "talk" },
    payload: { source: { name: "talk", url }, capsule: { name: "talk", environment: "bench" }, variables: {} }
  })
  const started = yield* Effect.repeat(
    product.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
    {
      until: (read) => read.installPlan.planRunId !== undefined || read.installPlan.phase === "failed",
      schedule: Schedule.spaced("10 millis")
    }
  )
  return started.installPlan.planRunId ?? ""
})

/** A tool whose plan prints the time repeatedly. */
export const pacedTool = (folder: string, tool: string) =>
  talkingTool(
    folder,
    tool,
    "paced",
    `i=0; while [ $i -lt ${timedLines} ]; do echo "printed at $(date +%s%N)"; i=$((i+1)); sleep 0.01; done`
  )

/** Returns the milliseconds between the time in a printed line and the arrival of that line at a subscriber. */
export const delaysOf = Effect.fn("delaysOf")(function* (product: Product, runId: string) {
  const delays: Array<number> = []
  const done = yield* Deferred.make<void>()
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = new WebSocket(`${product.url.replace("http", "ws")}/api/v1/runs/${runId}/logs`, {
        headers: { authorization: `Bearer ${Redacted.value(product.token)}` }
      })
      socket.on("message", (data) => {
        const arrived = performance.timeOrigin + performance.now()
        for (const { text } of decodeFrame(data.toString()).entries ?? []) {
          const printed = /^printed at (\d+)$/.exec(text)?.[1]
          if (printed !== undefined) delays.push(arrived - Number(printed) / 1e6)
        }
        if (delays.length >= timedLines) Deferred.doneUnsafe(done, Effect.void)
      })
      socket.on("close", () => Deferred.doneUnsafe(done, Effect.void))
      return socket
    }),
    (socket) => Effect.sync(() => socket.close())
  )
  yield* Deferred.await(done)
  return delays
}, Effect.scoped)

const latency = Effect.fn("latency")(function* (folder: string, tool: string, binary: string) {
  const repository = yield* repositoryOf({ "main.tf": module })
  const program = yield* pacedTool(folder, tool)
  const product = yield* startProduct(["--git-allow-origins", repository.origin, "--tool", program], [binary])
  return yield* delaysOf(product, yield* startRun(product, repository.url))
}, Effect.scoped)

const megabytes = (pid: number) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const status = yield* files.readFileString(`/proc/${pid}/status`)
    return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) / 1024
  })

/** Measures another person's commands, and the server's memory, while a Run prints a million lines. */
const flood = Effect.fn("flood")(function* (folder: string, tool: string, binary: string) {
  const repository = yield* repositoryOf({ "main.tf": module })
  const program = yield* talkingTool(
    folder,
    tool,
    "flood",
    `awk 'BEGIN { for (i = 0; i < ${million}; i++) print "line " i " of what a chatty provider tells of its work" }'`
  )
  const product = yield* startProduct(["--git-allow-origins", repository.origin, "--tool", program], [binary])
  const { source } = yield* product.client.sources.create({
    payload: {
      workspaceId: yield* decodeWorkspaceId(product.workspaceId),
      name: "other",
      url: "https://git.example.com/team/other.git"
    }
  })
  const command = Effect.gen(function* () {
    const started = yield* Clock.currentTimeNanos
    yield* product.client.sources.update({
      params: { sourceId: source.id },
      payload: { name: `other ${Number(started % 1_000_000n)}` }
    })
    return Number((yield* Clock.currentTimeNanos) - started) / 1e6
  })
  const some = Effect.gen(function* () {
    const times: Array<number> = []
    for (let count = 0; count < quietCommands; count++) times.push(yield* Effect.delay(command, commandEvery))
    return times
  })
  const before = yield* some
  const held = yield* megabytes(product.pid)
  const began = yield* Clock.currentTimeMillis
  const runId = yield* startRun(product, repository.url)
  const over = yield* Ref.make(false)
  const waiting = yield* Effect.repeat(product.client.runs.read({ params: { runId } }), {
    until: (read) => read.run.finishedAt !== undefined,
    schedule: Schedule.spaced("250 millis")
  }).pipe(Effect.ensuring(Ref.set(over, true)), Effect.forkChild)
  const during: Array<number> = []
  const memory: Array<number> = []
  while (!(yield* Ref.get(over))) {
    during.push(yield* Effect.delay(command, commandEvery))
    memory.push(yield* megabytes(product.pid))
  }
  yield* Fiber.join(waiting)
  const seconds = ((yield* Clock.currentTimeMillis) - began) / 1000
  const after = yield* some
  yield* Effect.sleep(settle)
  return {
    slowdown: median(during) / median([...before, ...after]),
    worst: percentile(during, 0.99),
    // Processing lines produces garbage that is collected only later, so the measurement includes only memory that is still
    // in use.
    growth: (yield* megabytes(product.pid)) - held,
    peak: Math.max(...memory),
    seconds,
    commands: during.length
  }
}, Effect.scoped)

/** Measures the delay until a Run's output becomes visible, and the cost of that output for other users. */
export const logs = (binary: string, tool: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-tools-" })
    const delays = yield* latency(folder, tool, binary)
    const found = yield* flood(folder, tool, binary)
    const figures: ReadonlyArray<Figure> = [
      {
        name: "log line from the tool's print to a subscriber, p95",
        figure: percentile(delays, 0.95),
        unit: "ms",
        target: { atMost: 100 },
        detail: `p50 ${median(delays).toFixed(1)} ms, ${delays.length} of ${timedLines} lines`
      },
      {
        name: "another person's command while a Run prints a million lines",
        figure: found.slowdown,
        unit: "x",
        target: { atMost: 1.2 },
        detail: `${found.commands} commands in ${found.seconds.toFixed(0)} s, p99 ${found.worst.toFixed(0)} ms`
      },
      {
        name: "memory that remains after the million lines",
        figure: found.growth,
        unit: "MB",
        target: { atMost: 20 },
        detail: `at most ${found.peak.toFixed(0)} MB of its own meanwhile`
      }
    ]
    return figures
  }).pipe(Effect.scoped)
