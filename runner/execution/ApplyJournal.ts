import { type FileHandle, open } from "node:fs/promises"
import { Effect, Option, Schema, type Scope } from "effect"
import { fileOperation, type RunFileFailed, readOptional } from "./RunFiles.ts"
import type { JournalResource } from "./RunOutcome.ts"
import type { ToolMessage } from "./ToolMessage.ts"

const Entry = Schema.Struct({
  moment: Schema.Literals(["started", "completed", "failed"]),
  address: Schema.String,
  action: Schema.String,
  id: Schema.optionalKey(Schema.String)
})
type Entry = typeof Entry.Type
const decodeEntry = Schema.decodeUnknownOption(Schema.fromJsonString(Entry))

/** What an apply did, as far as the tool told. */
export interface JournalSummary {
  readonly started: ReadonlyArray<JournalResource>
  readonly completed: ReadonlyArray<JournalResource>
  /** Started and neither completed nor failed: it may or may not exist. */
  readonly possiblyCreated: ReadonlyArray<string>
}

const keyOf = ({ address, action }: JournalResource) => JSON.stringify([address, action])

const summarizeJournal = (entries: ReadonlyArray<Entry>): JournalSummary => {
  const of = (moment: Entry["moment"]) =>
    entries
      .filter((entry) => entry.moment === moment)
      .map(({ address, action, id }): JournalResource => ({ address, action, ...(id === undefined ? {} : { id }) }))
  const started = of("started")
  const ended = new Set([...of("completed"), ...of("failed")].map(keyOf))
  const open = started.filter((resource) => !ended.has(keyOf(resource))).map(({ address }) => address)
  return { started, completed: of("completed"), possiblyCreated: [...new Set(open)] }
}

/** Reads a journal back; a last line that a crash tore is ignored. */
export const readJournal = (path: string): Effect.Effect<JournalSummary, RunFileFailed> =>
  readOptional(path, "read the apply journal").pipe(
    Effect.map((bytes) =>
      Option.match(bytes, {
        onNone: () => summarizeJournal([]),
        onSome: (content) =>
          summarizeJournal(
            new TextDecoder()
              .decode(content)
              .split("\n")
              .flatMap((line) => Option.toArray(decodeEntry(line)))
          )
      })
    )
  )

export interface ApplyJournal {
  /** Notes what a message says about a resource; a start is on the disk when this returns. */
  readonly note: (message: ToolMessage) => Effect.Effect<void>
  readonly summary: Effect.Effect<JournalSummary>
}

/** Opens the journal of an apply that begins. `clean` redacts. */
export const openJournal = Effect.fnUntraced(function* (
  path: string,
  clean: (text: string) => string
): Effect.fn.Return<ApplyJournal, RunFileFailed, Scope.Scope> {
  const file: FileHandle = yield* Effect.acquireRelease(
    fileOperation("open the apply journal", () => open(path, "a", 0o600)),
    (opened) => Effect.promise(() => opened.close())
  )
  const entries: Array<Entry> = []
  return {
    note: (message) => {
      if (message._tag !== "Resource" || message.moment === "progress") return Effect.void
      const entry: Entry = {
        moment: message.moment,
        address: clean(message.address),
        action: message.action,
        ...(message.id === undefined ? {} : { id: clean(message.id) })
      }
      entries.push(entry)
      return fileOperation("write the apply journal", async () => {
        await file.write(`${JSON.stringify(entry)}\n`)
        if (entry.moment === "started") await file.datasync()
      }).pipe(
        // A full disk must not stop an apply that is under way; the summary in memory is still whole.
        Effect.catch((problem) => Effect.logWarning(problem.message))
      )
    },
    summary: Effect.sync(() => summarizeJournal(entries))
  }
})
