import { appendFileSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { Effect, Option, Queue, type Redacted, Schema, type Scope } from "effect"
import { comparedAddress } from "../redaction/InstanceKeys.ts"
import { isRedactionSentinel } from "../redaction/RedactionMark.ts"
import { fileOperation, promptFileOperation, type RunFileFailed, readOptional } from "./RunFiles.ts"
import type { JournalResource } from "./RunOutcome.ts"
import type { StateFile } from "./StateFile.ts"
import type { ToolMessage } from "./ToolMessage.ts"

/** The address under which to record a diagnostic that has no resource. */
const anyAddress = ""

const Entry = Schema.Struct({
  /**
   * - `failed`: the tool has reported the failure, but not yet the reason
   * - `refused`: the provider gave a reason
   * - `unanswered`: the provider never responded, for example because it died; the object may or may not exist
   */
  moment: Schema.Literals(["started", "completed", "failed", "refused", "unanswered"]),
  address: Schema.String,
  action: Schema.String,
  id: Schema.optionalKey(Schema.String)
})
type Entry = typeof Entry.Type
const decodeEntry = Schema.decodeUnknownOption(Schema.fromJsonString(Entry))

/** Summary of an apply's operations, as reported by the tool. */
export interface JournalSummary {
  readonly started: ReadonlyArray<JournalResource>
  readonly completed: ReadonlyArray<JournalResource>
  /**
   * Operations that started, but for which the provider reported neither success nor failure. Their objects may or may not exist.
   */
  readonly possiblyCreated: ReadonlyArray<string>
}

const keyOf = ({ address, action }: JournalResource) => JSON.stringify([address, action])

/** Returns true if two ids are equal, or if they cannot be compared because an id is missing or redacted. */
const isSame = (held: string | undefined, reported: string | undefined) =>
  held === undefined || reported === undefined || isRedactionSentinel(reported) || held === reported

const summarizeJournal = (entries: ReadonlyArray<Entry>): JournalSummary => {
  const of = (moment: Entry["moment"]) =>
    entries
      .filter((entry) => entry.moment === moment)
      .map(({ address, action, id }): JournalResource => ({ address, action, ...(id === undefined ? {} : { id }) }))
  const keysOf = (moment: Entry["moment"]) => new Set(of(moment).map(keyOf))
  const addressesOf = (moment: Entry["moment"]) => new Set(of(moment).map(({ address }) => address))
  const completed = keysOf("completed")
  const failed = keysOf("failed")
  const refused = addressesOf("refused")
  const unanswered = addressesOf("unanswered")
  // A diagnostic without a resource may belong to any failed resource.
  const mentions = (addresses: ReadonlySet<string>, address: string) =>
    addresses.has(address) || addresses.has(anyAddress)
  const isOver = (resource: JournalResource) =>
    completed.has(keyOf(resource)) ||
    (failed.has(keyOf(resource)) && mentions(refused, resource.address) && !mentions(unanswered, resource.address))
  const open = of("started").filter((resource) => !isOver(resource))
  return {
    started: of("started"),
    completed: of("completed"),
    possiblyCreated: [...new Set(open.map(({ address }) => address))]
  }
}

/** Returns true if a state contains the object of a journal entry. */
const heldIn = (left: StateFile | undefined, addressKey: Redacted.Redacted | undefined) => {
  const form = (address: string) => (addressKey === undefined ? address : comparedAddress(addressKey, address))
  const held = left?.managed?.map(({ address, id }) => ({ id, address: form(address) })) ?? []
  return ({ address, id }: JournalResource) =>
    held.some((object) => object.address === form(address) && isSame(object.id, id))
}

/**
 * Returns the objects that an unfinished apply may have created and that `left` does not contain. The operations on these
 * objects never finished, or finished just before the state was lost or damaged. If the state is encrypted, it rules out no
 * objects. `addressKey` is the key for the digests in the journal's addresses.
 */
export const possiblyCreated = (
  journal: JournalSummary,
  left: StateFile | undefined,
  addressKey?: Redacted.Redacted
): ReadonlyArray<string> => {
  if (left !== undefined && left.managed === undefined) return journal.possiblyCreated
  const isHeld = heldIn(left, addressKey)
  const untold = journal.completed.filter((resource) => resource.action === "create" && !isHeld(resource))
  return [...new Set([...journal.possiblyCreated, ...untold.map(({ address }) => address)])]
}

/**
 * Once the digest key is available, removes from `possiblyCreated` the objects that the state contains. Without the key, an
 * object with a secret instance key cannot be matched with the state, so the object is reported even if the state contains
 * it.
 */
export const stillSuspected = (
  { completed, possiblyCreated, started }: JournalSummary,
  left: StateFile | undefined,
  addressKey: Redacted.Redacted
): ReadonlyArray<string> => {
  const isHeld = heldIn(left, addressKey)
  const over = new Set(completed.map(keyOf))
  const open = new Set(started.filter((resource) => !over.has(keyOf(resource))).map(({ address }) => address))
  const lost = new Set(
    completed.filter((resource) => resource.action === "create" && !isHeld(resource)).map(({ address }) => address)
  )
  const created = new Set(completed.filter(({ action }) => action === "create").map(({ address }) => address))
  return possiblyCreated.filter((address) => open.has(address) || lost.has(address) || !created.has(address))
}

/** Reads a journal. Ignores a last line that a crash left incomplete. */
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

/** Prefixes of the tool's diagnostics about an interrupted call to a plugin, for example because the plugin died. */
const brokenCalls: ReadonlySet<string> = new Set(["Plugin did not respond", "Plugin error", "Request cancelled"])

const entryOf = (message: ToolMessage): Entry | undefined => {
  if (message._tag === "Diagnostic") {
    const { address, severity, summary } = message.diagnostic
    if (severity !== "error") return undefined
    const moment = brokenCalls.has(summary) ? "unanswered" : "refused"
    return { moment, address: address ?? anyAddress, action: "" }
  }
  if (message._tag !== "Resource" || message.moment === "progress") return undefined
  return {
    moment: message.moment,
    address: message.address,
    action: message.action,
    ...(message.id === undefined ? {} : { id: message.id })
  }
}

export interface ApplyJournal {
  /**
   * Records what a message reports about a resource, and returns when the entry is written. The start of an operation is also
   * flushed to disk. Start entries that arrive while the disk is busy share the next flush.
   */
  readonly note: (message: ToolMessage) => Effect.Effect<void>
  readonly summary: Effect.Effect<JournalSummary>
}

/** Opens the journal of a new apply. Messages must be redacted before they reach it. */
export const openJournal = Effect.fnUntraced(function* (
  path: string
): Effect.fn.Return<ApplyJournal, RunFileFailed, Scope.Scope> {
  const file: FileHandle = yield* Effect.acquireRelease(
    fileOperation("open the apply journal", () => open(path, "a", 0o600)),
    (opened) => Effect.promise(() => opened.close())
  )
  const entries: Array<Entry> = []
  // Log write errors and continue: a full disk must not stop a running apply, and the summary in memory is still complete.
  const tolerated = Effect.catch((problem: RunFileFailed) => Effect.logWarning(problem.message))
  const unforced = yield* Queue.sliding<void>(1)
  yield* Queue.take(unforced).pipe(
    Effect.andThen(
      Effect.uninterruptible(tolerated(fileOperation("force the apply journal to the disk", () => file.datasync())))
    ),
    Effect.forever,
    Effect.forkScoped
  )
  return {
    note: (message) => {
      const entry = entryOf(message)
      if (entry === undefined) return Effect.void
      entries.push(entry)
      const line = `${JSON.stringify(entry)}\n`
      return promptFileOperation("write the apply journal", () => appendFileSync(file.fd, line)).pipe(
        Effect.andThen(entry.moment === "started" ? Queue.offer(unforced, undefined) : Effect.void),
        tolerated
      )
    },
    summary: Effect.sync(() => summarizeJournal(entries))
  }
})
