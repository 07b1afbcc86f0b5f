import { Context, Effect, Layer } from "effect"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { RunEvent, RunLogEntry } from "../../../../schema/events/RunEvent.ts"

const at = "2026-01-01T00:00:00.000Z"

/** Writes to the in-memory sequences that the streams under test read. */
export class Journal extends Context.Service<
  Journal,
  {
    readonly append: (count: number, text?: string) => void
    readonly finish: () => void
    readonly reads: () => number
    readonly listeners: () => number
  }
>()("test/http/Journal") {}

/** A Run's sequences in memory, with the same contract as the stored sequences. */
export const fakeRunStreams = Layer.effectContext(
  Effect.sync(() => {
    let texts: ReadonlyArray<string> = []
    let done = false
    let reads = 0
    const listeners = new Set<() => void>()
    const wake = () => {
      for (const listener of listeners) listener()
    }
    const page = <A>(after: number, limit: number, item: (seq: number, text: string) => A) =>
      Effect.sync(() => {
        reads++
        const items = texts.slice(after, after + limit).map((text, index) => item(after + index + 1, text))
        return { items, nextAfter: after + items.length, done: done && items.length < limit }
      })
    const streams = RunStreams.of({
      events: (_, after, limit) =>
        page(after, limit, (seq, text): RunEvent => ({ seq, at, kind: "diagnostic", data: { text } })),
      logs: (_, after, limit) =>
        page(after, limit, (seq, text): RunLogEntry => ({ seq, at, phase: "plan", stream: "stdout", text })),
      listen: (_, listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    })
    const journal = Journal.of({
      append: (count, text = "line") => {
        texts = [...texts, ...Array.from({ length: count }, () => text)]
        wake()
      },
      finish: () => {
        done = true
        wake()
      },
      reads: () => reads,
      listeners: () => listeners.size
    })
    return Context.make(RunStreams, streams).pipe(Context.add(Journal, journal))
  })
)
