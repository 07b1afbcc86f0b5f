import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useReducer, useState } from "react"
import { runsEvents, runsLogs } from "../../api/Endpoints.ts"
import { bootstrapQuery, runQuery } from "../../api/Queries.ts"
import { RunStream, type SocketListener, type StreamSocket, type StreamState } from "../../api/RunStream.ts"
import { pageClock, Turns } from "../../api/Turns.ts"
import type { LogEntry, RunEvent } from "../../api/Types.ts"
import { address } from "../../api/Url.ts"
import { saysAlready } from "./KnownEvents.ts"
import { LogBuffer } from "./LogBuffer.ts"

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isEvent = (value: unknown): value is RunEvent =>
  isRecord(value) &&
  typeof value.seq === "number" &&
  typeof value.kind === "string" &&
  typeof value.at === "string" &&
  isRecord(value.data)

const isEntry = (value: unknown): value is LogEntry =>
  isRecord(value) && typeof value.seq === "number" && typeof value.text === "string"

const list = (frame: unknown, key: string): ReadonlyArray<unknown> => {
  const items = isRecord(frame) ? frame[key] : undefined
  return Array.isArray(items) ? items : []
}

const readEvents = (frame: unknown): ReadonlyArray<RunEvent> => list(frame, "events").filter(isEvent)
const readEntries = (frame: unknown): ReadonlyArray<LogEntry> => list(frame, "entries").filter(isEntry)

const socketUrl = (path: string): string => `${window.location.origin.replace(/^http/, "ws")}${path}`

const openSocket = (url: string, listener: SocketListener): StreamSocket => {
  const socket = new WebSocket(url)
  const quiet = new AbortController()
  const { signal } = quiet
  const turns = new Turns(pageClock())
  socket.addEventListener("open", () => listener.onOpen(), { signal })
  socket.addEventListener("message", ({ data }: MessageEvent<unknown>) => turns.add(() => listener.onMessage(data)), {
    signal
  })
  // The close event is queued as well, because all earlier events must be processed first.
  socket.addEventListener("close", ({ code }) => turns.add(() => listener.onClose(code)), { signal })
  return {
    close: () => {
      quiet.abort()
      turns.clear()
      // Closing a socket before it opens makes the browser log an error.
      if (socket.readyState === WebSocket.CONNECTING) socket.addEventListener("open", () => socket.close())
      else socket.close()
    }
  }
}

const schedule = (run: () => void, ms: number): (() => void) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

const random = (): number => Math.random()

export interface LiveStream {
  readonly state: StreamState
  readonly retryNow: () => void
}

/** Runs a stream while a component is mounted, and retries it when the browser is online again. */
const useStream = (stream: { start(): void; stop(): void; retryNow(): void }): void => {
  useEffect(() => {
    const onOnline = () => stream.retryNow()
    stream.start()
    window.addEventListener("online", onOnline)
    return () => {
      window.removeEventListener("online", onOnline)
      stream.stop()
    }
  }, [stream])
}

/**
 * The live events of a Run. Each batch also refreshes the Run and the lists that show it. Use a separate component with a key for
 * each Run.
 */
export const useRunEvents = (runId: string): LiveStream & { readonly events: ReadonlyArray<RunEvent> } => {
  const queryClient = useQueryClient()
  const [events, setEvents] = useState<ReadonlyArray<RunEvent>>([])
  const [state, setState] = useState<StreamState>("connecting")
  const [stream] = useState(
    () =>
      new RunStream<RunEvent>({
        url: (after) => socketUrl(address(runsEvents, { params: { runId }, query: { after: String(after) } })),
        read: readEvents,
        onItems: (items) => {
          setEvents((known) => [...known, ...items])
          if (items.some(({ kind }) => !kind.startsWith("resource."))) {
            const { queryKey } = runQuery(runId)
            // A plan may be megabytes long, so it is not fetched again when events that it already reflects are replayed.
            const isKnown = saysAlready(queryClient.getQueryData(queryKey), items)
            void queryClient.invalidateQueries({
              queryKey,
              predicate: (query) => !isKnown || query.queryKey.length > queryKey.length
            })
            void queryClient.invalidateQueries({ queryKey: ["workspace"] })
            void queryClient.invalidateQueries({ queryKey: ["capsule"] })
          }
        },
        onState: (next) => {
          setState(next)
          // The person may have lost access, so read the list of their Workspaces again.
          if (next === "refused") void queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey })
        },
        open: openSocket,
        schedule,
        random
      })
  )
  useStream(stream)
  return { events, state, retryNow: () => stream.retryNow() }
}

interface RunLog {
  readonly buffer: LogBuffer
  readonly stream: RunStream<LogEntry>
}

const makeLog = (runId: string, onGrown: () => void, onState: (state: StreamState) => void): RunLog => {
  const buffer = new LogBuffer()
  let asked = false
  const stream = new RunStream<LogEntry>({
    url: (after) => socketUrl(address(runsLogs, { params: { runId }, query: { after: String(after) } })),
    read: readEntries,
    onItems: (items) => {
      buffer.append(items)
      // The page renders at most once per frame, however fast entries arrive.
      if (asked) return
      asked = true
      requestAnimationFrame(() => {
        asked = false
        onGrown()
      })
    },
    onState,
    open: openSocket,
    schedule,
    random
  })
  return { buffer, stream }
}

/**
 * The live log of a Run. The buffer is a single growing object, and `version` changes when it grows. Use a separate component for
 * each Run.
 */
export const useRunLog = (runId: string): LiveStream & { readonly buffer: LogBuffer; readonly version: number } => {
  const [version, grown] = useReducer((count: number) => count + 1, 0)
  const [state, setState] = useState<StreamState>("connecting")
  const [{ buffer, stream }] = useState(() => makeLog(runId, grown, setState))
  useStream(stream)
  return { buffer, version, state, retryNow: () => stream.retryNow() }
}
