import { useQueryClient } from "@tanstack/react-query"
import { useEffect, useReducer, useRef, useState } from "react"
import { runQuery } from "../../api/Queries.ts"
import { RunStream, type StreamSocket, type StreamState } from "../../api/RunStream.ts"
import type { LogEntry, RunEvent } from "../../api/Types.ts"
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

/** A browser socket with the few members a stream uses. */
const openSocket = (url: string): StreamSocket => {
  const socket = new WebSocket(url)
  const adapter: StreamSocket = { onmessage: null, onclose: null, onopen: null, close: () => socket.close() }
  socket.addEventListener("message", (event: MessageEvent<unknown>) => adapter.onmessage?.({ data: event.data }))
  socket.addEventListener("close", (event) => adapter.onclose?.({ code: event.code }))
  socket.addEventListener("open", () => adapter.onopen?.())
  return adapter
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

const useOnline = (stream: { readonly current: { retryNow(): void } | undefined }): void => {
  useEffect(() => {
    const onOnline = () => stream.current?.retryNow()
    window.addEventListener("online", onOnline)
    return () => window.removeEventListener("online", onOnline)
  }, [stream])
}

/** A Run's events, live; each batch also renews the Run itself and the lists that show it. */
export const useRunEvents = (runId: string): LiveStream & { readonly events: ReadonlyArray<RunEvent> } => {
  const queryClient = useQueryClient()
  const [events, setEvents] = useState<ReadonlyArray<RunEvent>>([])
  const [state, setState] = useState<StreamState>("connecting")
  const stream = useRef<RunStream<RunEvent> | undefined>(undefined)
  useEffect(() => {
    setEvents([])
    const made = new RunStream<RunEvent>({
      url: (after) => socketUrl(`/api/v1/runs/${encodeURIComponent(runId)}/events?after=${after}`),
      read: readEvents,
      onItems: (items) => {
        setEvents((known) => [...known, ...items])
        if (items.some(({ kind }) => !kind.startsWith("resource."))) {
          void queryClient.invalidateQueries({ queryKey: runQuery(runId).queryKey })
          void queryClient.invalidateQueries({ queryKey: ["workspace"] })
          void queryClient.invalidateQueries({ queryKey: ["capsule"] })
        }
      },
      onState: setState,
      open: openSocket,
      schedule,
      random
    })
    stream.current = made
    made.start()
    return () => made.stop()
  }, [runId, queryClient])
  useOnline(stream)
  return { events, state, retryNow: () => stream.current?.retryNow() }
}

/** A Run's log, live. The buffer is one object that grows; `version` changes when it did. */
export const useRunLog = (runId: string): LiveStream & { readonly buffer: LogBuffer; readonly version: number } => {
  const [version, grown] = useReducer((count: number) => count + 1, 0)
  const [state, setState] = useState<StreamState>("connecting")
  const [buffer, setBuffer] = useState(() => new LogBuffer())
  const stream = useRef<RunStream<LogEntry> | undefined>(undefined)
  useEffect(() => {
    const lines = new LogBuffer()
    setBuffer(lines)
    let frame = 0
    const made = new RunStream<LogEntry>({
      url: (after) => socketUrl(`/api/v1/runs/${encodeURIComponent(runId)}/logs?after=${after}`),
      read: readEntries,
      onItems: (items) => {
        lines.append(items)
        // However fast frames arrive, the page draws at most once a frame.
        if (frame === 0) {
          frame = requestAnimationFrame(() => {
            frame = 0
            grown()
          })
        }
      },
      onState: setState,
      open: openSocket,
      schedule,
      random
    })
    stream.current = made
    made.start()
    return () => {
      cancelAnimationFrame(frame)
      made.stop()
    }
  }, [runId])
  useOnline(stream)
  return { buffer, version, state, retryNow: () => stream.current?.retryNow() }
}
