import { describe, expect } from "bun:test"
import { DatabaseSync } from "node:sqlite"
import { Deferred, Effect, Fiber, type Layer, Schedule, type Scope } from "effect"
import { WebSocket } from "ws"
import { platform } from "../../src/composition/Platform.ts"
import { it } from "../support/Effect.ts"
import { collector } from "../src/observability/support/Collector.ts"
import { canaries, heldApply } from "./support/HeldApply.ts"

const tool = Bun.which("tofu") ?? Bun.which("terraform")

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)))

type Held = Effect.Success<ReturnType<typeof heldApply>>

/**
 * Opens a live stream of the Run and waits for its first frame. Returns the received frames and how the stream was closed.
 */
const subscribe = Effect.fnUntraced(function* ({ runId, token, url }: Held) {
  const first = yield* Deferred.make<void>()
  const closed = yield* Deferred.make<{ readonly code: number; readonly reason: string }>()
  const received: Array<string> = []
  const address = `${url.replace(/^http/, "ws")}/api/v1/runs/${runId}/events`
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      const socket = new WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
      socket.on("message", (data) => {
        received.push(data.toString())
        Deferred.doneUnsafe(first, Effect.void)
      })
      socket.on("close", (code, reason) =>
        Deferred.doneUnsafe(closed, Effect.succeed({ code, reason: reason.toString() }))
      )
      return socket
    }),
    (socket) => Effect.sync(() => socket.terminate())
  )
  yield* Deferred.await(first)
  return { received, closed: Deferred.await(closed) }
})

const statusOf = (url: string, init?: RequestInit) =>
  Effect.promise(() =>
    fetch(url, init).then(
      async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }),
      () => ({ status: 0, headers: new Headers(), text: "" })
    )
  )

/** Waits until the server has received the stop request. */
const stopping = (operatorUrl: string) =>
  Effect.repeat(statusOf(`${operatorUrl}/readyz`), {
    until: ({ status }) => status === 503,
    schedule: Schedule.spaced("20 millis")
  })

const rowOf = ({ dataDir, runId }: Held) =>
  Effect.acquireUseRelease(
    Effect.sync(() => new DatabaseSync(`${dataDir}/svc.sqlite`, { readOnly: true })),
    (database) =>
      Effect.sync(() => {
        const run = database.prepare("SELECT status, error_code FROM runs WHERE id = ?").get(runId)
        const states = database.prepare("SELECT COUNT(*) AS versions FROM state_versions").get()
        return { ...run, ...states }
      }),
    (database) => Effect.sync(() => database.close())
  )

describe.skipIf(tool === null)("Server drain", () => {
  live("a draining server lets its apply finish, sends live streams their resume position, and exits with 0", () =>
    Effect.gen(function* () {
      const { everything, origin, spans } = yield* collector
      const held = yield* heldApply({ environment: { SVC_OTLP_URL: origin } })
      const { closed, received } = yield* subscribe(held)
      yield* held.signal("SIGTERM")
      expect(yield* closed).toEqual({ code: 1012, reason: "The server is restarting." })
      expect(JSON.parse(received.at(-1) ?? "")).toEqual({ resumeAfter: expect.any(Number) })
      const ready = yield* stopping(held.operatorUrl)
      expect(JSON.parse(ready.text)).toEqual({ status: "unavailable", reason: "draining" })
      expect((yield* statusOf(`${held.operatorUrl}/healthz`)).status).toBe(200)
      expect((yield* statusOf(`${held.operatorUrl}/metrics`)).text).toContain('svc_runs_open{status="running"}')
      yield* held.release
      expect(yield* held.exitCode).toBe(0)
      expect(yield* rowOf(held)).toEqual({ status: "succeeded", error_code: null, versions: 1 })

      // The collected trace covers everything from the request to the tool, and contains no secret.
      const collected = yield* spans
      const applying = collected.find(({ name }) => name === "Runs.apply")
      const trace = collected.filter(({ traceId }) => traceId === applying?.traceId)
      expect(trace.map(({ name }) => name)).toEqual(expect.arrayContaining(["Run.execute", "ToolRun.run"]))
      expect(trace.some(({ attributes }) => attributes.some(({ key }) => key === "http.request.method"))).toBe(true)
      const told = everything()
      for (const secret of [...canaries, held.token]) {
        expect(told).not.toContain(secret)
        expect(told).not.toContain(Buffer.from(secret).toString("base64").replace(/=+$/, ""))
      }
      expect(yield* Fiber.join(held.log)).not.toContain(canaries[0])
    })
  )

  live("a draining server accepts no new work, and a second signal interrupts the apply and saves its state", () =>
    Effect.gen(function* () {
      const held = yield* heldApply({ flags: ["--drain-delay", "300"] })
      const { closed, received } = yield* subscribe(held)
      yield* held.signal("SIGTERM")
      yield* stopping(held.operatorUrl)
      const { dataDir: _, token, url, workspaceId } = held
      const authorization = `Bearer ${token}`
      const created = yield* statusOf(`${url}/api/v1/workspaces/${workspaceId}/install-plans`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json", "idempotency-key": "late" },
        body: "{}"
      })
      expect(created.status).toBe(503)
      expect(created.headers.get("retry-after")).toMatch(/^[1-9]\d*$/)
      expect(JSON.parse(created.text)).toMatchObject({ error: { code: "verification_unavailable" } })
      expect((yield* statusOf(`${url}/readyz`)).status).toBe(503)
      expect((yield* statusOf(`${url}/api/v1/workspaces`, { headers: { authorization } })).status).toBe(200)
      yield* held.signal("SIGINT")
      expect(yield* closed).toEqual({ code: 1012, reason: "The server is restarting." })
      expect(JSON.parse(received.at(-1) ?? "")).toHaveProperty("resumeAfter")
      expect(yield* held.exitCode).toBe(0)
      const { status, versions } = yield* rowOf(held)
      expect({ status, versions }).toEqual({ status: "cancelled", versions: 1 })
    })
  )
})
