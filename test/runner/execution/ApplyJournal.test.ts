import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { hiddenKey } from "../../../runner/redaction/InstanceKeys.ts"
import { openJournal, possiblyCreated, readJournal, stillSuspected } from "../../../runner/execution/ApplyJournal.ts"
import { parseState } from "../../../runner/execution/StateFile.ts"
import type { ToolMessage } from "../../../runner/execution/ToolMessage.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "./support/RunnerHarness.ts"

const resource = (moment: "started" | "completed" | "failed", address: string, action = "create"): ToolMessage => ({
  _tag: "Resource",
  text: "",
  moment,
  address,
  action,
  id: undefined,
  elapsedSeconds: undefined
})

const problem = (summary: string, address?: string, severity: "error" | "warning" = "error"): ToolMessage => ({
  _tag: "Diagnostic",
  text: "",
  diagnostic: { severity, summary, ...(address === undefined ? {} : { address }) }
})

const died = "Plugin did not respond"

/**
 * Returns the objects that are possibly created according to a journal of these messages. Checks that reading the journal
 * back after a crash gives the same objects.
 */
const listed = Effect.fnUntraced(function* (messages: ReadonlyArray<ToolMessage>) {
  const path = join(yield* temporaryFolder, "journal.ndjson")
  const journal = yield* openJournal(path)
  yield* Effect.forEach(messages, journal.note, { discard: true })
  const summary = yield* journal.summary
  expect(yield* readJournal(path)).toEqual(summary)
  return summary.possiblyCreated
})

const cases: ReadonlyArray<readonly [name: string, messages: ReadonlyArray<ToolMessage>, expected: Array<string>]> = [
  ["what was completed is not", [resource("started", "a"), resource("completed", "a")], []],
  ["what was only started is", [resource("started", "a"), resource("started", "b"), resource("completed", "a")], ["b"]],
  [
    "what the provider refused is not",
    [resource("started", "a"), resource("failed", "a"), problem("name is taken", "a")],
    []
  ],
  [
    "what failed because the provider died is",
    [
      resource("started", "a"),
      resource("started", "b"),
      resource("failed", "a"),
      resource("failed", "b"),
      problem("name is taken", "a"),
      problem(died, "b")
    ],
    ["b"]
  ],
  [
    "all that failed are, when the tool does not say whose call broke off",
    [
      resource("started", "a"),
      resource("started", "b"),
      resource("completed", "a"),
      resource("failed", "b"),
      problem(died)
    ],
    ["b"]
  ],
  ["what failed is, until the tool has said why", [resource("started", "a"), resource("failed", "a")], ["a"]],
  [
    "a warning explains nothing",
    [resource("started", "a"), resource("failed", "a"), problem("deprecated", "a", "warning")],
    ["a"]
  ],
  [
    "a resource created before its deletion was interrupted is reported by its own action",
    [resource("started", "a", "delete"), resource("completed", "a", "delete"), resource("started", "a")],
    ["a"]
  ]
]

describe("Possibly created objects", () => {
  for (const [name, messages, expected] of cases) {
    it.live(name, () =>
      Effect.gen(function* () {
        expect(yield* listed(messages)).toEqual(expected)
      })
    )
  }

  const note = (id: string, more: object = {}) => ({
    mode: "managed",
    type: "demo_note",
    name: "a",
    instances: [{ attributes: { id }, ...more }]
  })
  const stateOf = (...resources: ReadonlyArray<object>) =>
    Option.getOrUndefined(
      parseState(new TextEncoder().encode(JSON.stringify({ version: 4, serial: 1, lineage: "line", resources })))
    )
  const journalOf = (address: string, id?: string, action = "create") => ({
    started: [{ address, action, id }],
    completed: [{ address, action, id }],
    possiblyCreated: ["b"]
  })

  it.live("possibly created objects include completed resources that are missing from the remaining state", () =>
    Effect.sync(() => {
      const journal = journalOf("demo_note.a", "a-1")
      expect(possiblyCreated(journal, undefined)).toEqual(["b", "demo_note.a"])
      expect(possiblyCreated(journal, stateOf())).toEqual(["b", "demo_note.a"])
      expect(possiblyCreated(journal, stateOf(note("a-1")))).toEqual(["b"])
      // This state is older than the replacement, so the new object is not in it.
      expect(possiblyCreated(journal, stateOf(note("a-0")))).toEqual(["b", "demo_note.a"])
      expect(possiblyCreated(journalOf("demo_note.a", "[redacted]-1"), stateOf(note("a-1")))).toEqual(["b"])
      expect(possiblyCreated(journalOf("demo_note.a", "a-1", "update"), stateOf())).toEqual(["b"])
    })
  )

  it.live("possibly created objects have the addresses that the tool reported", () =>
    Effect.sync(() => {
      for (const [address, more, inModule] of [
        ["demo_note.a[0]", { index_key: 0 }, {}],
        ['module.net["x"].demo_note.a["k\\"y"]', { index_key: 'k"y' }, { module: 'module.net["x"]' }]
      ] as const) {
        expect(possiblyCreated(journalOf(address), stateOf({ ...note("a", more), ...inModule }))).toEqual(["b"])
        expect(possiblyCreated(journalOf(address), stateOf(note("a")))).toEqual(["b", address])
      }
    })
  )

  it.live("possibly created objects include an object whose instance key is hidden", () =>
    Effect.sync(() => {
      const key = Redacted.make("address-key")
      const address = `module.m["eu"].demo_note.a["${hiddenKey("address-key", "alice")}"]`
      const state = (...keys: ReadonlyArray<string>) =>
        stateOf(...keys.map((index_key) => ({ ...note(index_key, { index_key }), module: 'module.m["eu"]' })))
      expect(possiblyCreated(journalOf(address), state("bob", "alice"), key)).toEqual(["b"])
      expect(possiblyCreated(journalOf(address), state("bob"), key)).toEqual(["b", address])

      // If the key is unknown, more objects count as possibly created. The key later removes only the objects that are in
      // the state.
      const without = (...keys: ReadonlyArray<string>) => {
        const journal = journalOf(address)
        const suspected = possiblyCreated(journal, state(...keys))
        expect(suspected).toEqual(["b", address])
        return stillSuspected({ ...journal, possiblyCreated: suspected }, state(...keys), key)
      }
      expect(without("bob", "alice")).toEqual(["b"])
      expect(without("bob")).toEqual(["b", address])
      const again = { address, action: "delete" }
      const open = { ...journalOf(address), started: [again], possiblyCreated: [address] }
      expect(stillSuspected(open, state("alice"), key)).toEqual([address])
    })
  )

  it.live("possibly created objects cannot be determined if the state is encrypted", () =>
    Effect.sync(() => {
      const text = JSON.stringify({ serial: 1, lineage: "line", encrypted_data: "x", encryption_version: "v0" })
      const state = Option.getOrUndefined(parseState(new TextEncoder().encode(text)))
      expect(state).toBeDefined()
      expect(possiblyCreated(journalOf("demo_note.a"), state)).toEqual(["b"])
    })
  )
})
