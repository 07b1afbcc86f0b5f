import { join } from "node:path"
import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { openJournal, readJournal } from "../../../runner/execution/ApplyJournal.ts"
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

/** What a journal of these messages calls possibly created: asked at once, and read back after a crash. */
const possiblyCreated = Effect.fnUntraced(function* (messages: ReadonlyArray<ToolMessage>) {
  const path = join(yield* temporaryFolder, "journal.ndjson")
  const journal = yield* openJournal(path, (text) => text)
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
    "what was created before its deletion broke off is told by its own action",
    [resource("started", "a", "delete"), resource("completed", "a", "delete"), resource("started", "a")],
    ["a"]
  ]
]

describe("what an apply may have created", () => {
  for (const [name, messages, expected] of cases) {
    it.live(name, () =>
      Effect.gen(function* () {
        expect(yield* possiblyCreated(messages)).toEqual(expected)
      })
    )
  }
})
