import type { ServerWebSocket } from "bun"
import type { LogEntry, Run, RunEvent } from "../../../src/dashboard/api/Types.ts"
import { answer } from "./routes/DevelopmentRoutes.ts"
import { type World } from "./routes/World.ts"
import type { ServedFiles } from "./ServedFiles.ts"
import { eventsOf, logOf } from "./records/RunStreams.ts"

interface Watch {
  readonly runId: string
  readonly kind: "events" | "logs"
  readonly after: number
}

export interface DevelopmentApi {
  readonly origin: string
  readonly world: World
  /** Requests that changed records, in order: `POST /api/v1/runs/x/approve {...}`. */
  readonly changes: ReadonlyArray<{ readonly method: string; readonly path: string; readonly body: unknown }>
  /** Every opened stream, with its Run and its `after` value. */
  readonly opened: ReadonlyArray<Watch>
  readonly emitEvent: (runId: string, event: Omit<RunEvent, "seq" | "at">) => void
  readonly emitLog: (runId: string, lines: ReadonlyArray<string>) => void
  readonly cutSockets: () => void
  /** While true, new sockets are refused, as if the server were restarting. */
  refuseSockets: boolean
  readonly stop: () => Promise<void>
}

const finished = (run: Run | undefined): boolean =>
  run === undefined || !["queued", "running", "waiting_approval"].includes(run.status)
const batch = 500

/**
 * Starts an in-memory server that follows the API's contract and serves the dashboard's files, for developing and testing
 * the dashboard.
 */
export const startDevelopmentApi = (files: ServedFiles, world: World): DevelopmentApi => {
  const events = new Map<string, Array<RunEvent>>()
  const logs = new Map<string, Array<LogEntry>>()
  const sockets = new Set<ServerWebSocket<Watch>>()
  const changes: Array<{ method: string; path: string; body: unknown }> = []
  const opened: Array<Watch> = []
  const runOf = (id: string) => world.runs.find((run) => run.id === id)
  const eventList = (id: string) => {
    const run = runOf(id)
    const list = events.get(id) ?? (run === undefined ? [] : [...eventsOf(run)])
    events.set(id, list)
    return list
  }
  const logList = (id: string) => {
    const run = runOf(id)
    const list = logs.get(id) ?? (run === undefined ? [] : [...logOf(run)])
    logs.set(id, list)
    return list
  }
  const frame = (watch: Watch, items: ReadonlyArray<unknown>) =>
    JSON.stringify(watch.kind === "events" ? { events: items } : { entries: items })
  const publish = (runId: string, kind: Watch["kind"], items: ReadonlyArray<unknown>) => {
    for (const socket of sockets)
      if (socket.data.runId === runId && socket.data.kind === kind) socket.send(frame(socket.data, items))
  }
  const api = {
    refuseSockets: false,
    emitEvent: (runId: string, event: Omit<RunEvent, "seq" | "at">) => {
      const list = eventList(runId)
      const made: RunEvent = { ...event, seq: list.length + 1, at: new Date().toISOString() }
      list.push(made)
      publish(runId, "events", [made])
    },
    emitLog: (runId: string, lines: ReadonlyArray<string>) => {
      const list = logList(runId)
      const made = lines.map(
        (text, index): LogEntry => ({
          seq: list.length + index + 1,
          at: new Date().toISOString(),
          phase: "apply",
          stream: "stdout",
          text
        })
      )
      for (const entry of made) list.push(entry)
      for (let at = 0; at < made.length; at += batch) publish(runId, "logs", made.slice(at, at + batch))
    },
    cutSockets: () => {
      for (const socket of sockets) socket.terminate()
    }
  }
  const server = Bun.serve<Watch>({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request, bun) => {
      const url = new URL(request.url)
      const stream = /^\/api\/v1\/runs\/([^/]+)\/(events|logs)$/.exec(url.pathname)
      if (stream !== null && request.headers.get("upgrade") === "websocket") {
        if (api.refuseSockets) return new Response(null, { status: 503 })
        const watch: Watch = {
          runId: stream[1] ?? "",
          kind: stream[2] === "logs" ? "logs" : "events",
          after: Number(url.searchParams.get("after") ?? 0)
        }
        opened.push(watch)
        return bun.upgrade(request, { data: watch }) ? undefined : new Response(null, { status: 400 })
      }
      if (url.pathname.startsWith("/api/") || url.pathname.startsWith("/auth/")) {
        const text = request.method === "GET" ? "" : await request.text()
        const body: unknown = text === "" ? undefined : JSON.parse(text)
        if (request.method !== "GET") changes.push({ method: request.method, path: url.pathname, body })
        const result = answer(world, {
          method: request.method,
          path: url.pathname,
          query: url.searchParams,
          body,
          origin: url.origin,
          emitEvent: api.emitEvent
        })
        return Response.json(result.body ?? null, {
          status: result.status === 204 ? 200 : result.status,
          headers: { "x-request-id": "req_test", "x-content-type-options": "nosniff" }
        })
      }
      return files(request)
    },
    websocket: {
      open: (socket) => {
        const { runId, kind, after } = socket.data
        const list: ReadonlyArray<RunEvent | LogEntry> = kind === "events" ? eventList(runId) : logList(runId)
        const backlog = list.filter(({ seq }) => seq > after)
        for (let at = 0; at < backlog.length; at += batch)
          socket.send(frame(socket.data, backlog.slice(at, at + batch)))
        if (finished(runOf(runId))) {
          socket.send(JSON.stringify({ done: true }))
          socket.close(1000)
        } else sockets.add(socket)
      },
      message: () => {},
      close: (socket) => {
        sockets.delete(socket)
      }
    }
  })
  // Uses a host name, because passkeys do not work with IP addresses.
  return Object.assign(api, {
    origin: `http://localhost:${server.port}`,
    world,
    changes,
    opened,
    stop: () => server.stop(true)
  })
}
