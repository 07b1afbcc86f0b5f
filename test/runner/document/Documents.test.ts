import { describe, expect, test } from "bun:test"
import { Effect, Option, Redacted, Schema } from "effect"
import { JobResult } from "../../../runner/agent/JobResult.ts"
import { receivedResult } from "../../../runner/agent/ReceivedResult.ts"
import { DocumentAssembly, movedWith, piecesOf } from "../../../runner/document/DocumentPieces.ts"
import {
  longestReadHere,
  readDocument,
  readJobResult,
  readUnfinishedApply,
  readState
} from "../../../runner/document/Documents.ts"
import { documentLimits } from "../../../runner/document/DocumentReadings.ts"
import { RunnerFailure } from "../../../runner/execution/RunnerFailure.ts"
import { UnfinishedApply } from "../../../runner/execution/RunOutcome.ts"
import { parseState } from "../../../runner/execution/StateFile.ts"
import { scanState } from "../../../runner/execution/StateScan.ts"
import { it } from "../../support/Effect.ts"
import { longestParsedHere } from "../../support/LongestParsed.ts"

const bytesOf = (value: unknown) => new TextEncoder().encode(typeof value === "string" ? value : JSON.stringify(value))

const assembled = (value: unknown) => {
  const assembly = new DocumentAssembly()
  const kinds = [...piecesOf(value)].map((piece) => {
    assembly.add(structuredClone(piece))
    return piece.kind
  })
  return { value: assembly.value, kinds }
}

const instance = (index: number) => ({
  index_key: index,
  attributes: { id: `id-${index}`, text: "x".repeat(100), big: 12_345 },
  sensitive_attributes: [[{ type: "get_attr", value: "text" }]]
})
const stateOf = (instances: ReadonlyArray<unknown>) =>
  bytesOf({
    version: 4,
    serial: 3,
    lineage: "lineage",
    terraform_version: "1.9.0",
    outputs: { shown: { value: { a: [1] }, type: "dynamic" } },
    resources: [{ mode: "managed", type: "t", name: "n", provider: 'provider["example.test/a/b"]', instances }]
  })
const large = stateOf(Array.from({ length: 6000 }, (_, index) => instance(index)))

describe("Document pieces", () => {
  test.each([
    ["a scalar", 1],
    ["a small document", { a: [1, { b: null }], c: "text" }],
    ["an empty list", []],
    ["a long list", Array.from({ length: 50_000 }, (_, index) => index)],
    [
      "long lists in lists",
      [Array.from({ length: 20_000 }, () => []), [1], Array.from({ length: 20_000 }, () => ({}))]
    ],
    ["a name that objects reserve", JSON.parse(`{"__proto__":[${"1,".repeat(20_000)}1],"after":{"__proto__":1}}`)]
  ])("the pieces of a document reassemble to %s", (_name, value) => {
    expect(JSON.stringify(assembled(value).value)).toBe(JSON.stringify(value))
  })

  test("a document's long byte arrays are moved between threads, and short arrays are copied", () => {
    const long = new Uint8Array(longestReadHere).fill(7)
    const pieces = [...piecesOf({ before: [1], nested: { long }, short: new Uint8Array([1, 2]) })]
    expect(pieces.flatMap(movedWith).map(({ byteLength }) => byteLength)).toContain(longestReadHere)
    const assembly = new DocumentAssembly()
    for (const piece of pieces) assembly.add(structuredClone(piece, { transfer: [...movedWith(piece)] }))
    expect(long.length).toBe(0)
    const { value } = assembly
    expect(value).toMatchObject({ before: [1], short: new Uint8Array([1, 2]) })
    expect(value).toHaveProperty("nested.long.length", longestReadHere)
  })

  test("a document that takes a long time to copy is sent in many pieces", () => {
    expect(assembled(Array.from({ length: 100_000 }, () => [])).kinds.length).toBeGreaterThan(10)
    expect(assembled({ a: 1 }).kinds).toEqual(["whole"])
  })
})

describe("Long documents", () => {
  it.live("a document above 1 MiB is read in another thread, with the same result as a short document", () =>
    Effect.gen(function* () {
      expect(large.length).toBeGreaterThan(longestReadHere)
      const expected = parseState(large)
      const { longest, value } = yield* longestParsedHere(readState(large))
      // Output values are wrapped in `Redacted`, so they are compared separately below.
      expect(JSON.parse(JSON.stringify(value))).toEqual(JSON.parse(JSON.stringify(expected)))
      const revealed = Option.map(value, ({ outputs }) => outputs?.map((output) => Redacted.value(output.value)))
      expect(revealed).toEqual(Option.some([{ a: [1] }]))
      expect(longest).toBeLessThanOrEqual(longestReadHere)
    })
  )

  it.live("rejecting an invalid document over 1 MiB reports what is wrong and where", () =>
    Effect.gen(function* () {
      const long = `{"a":"${"x".repeat(longestReadHere)}",\n"a":1}`
      const { longest, value } = yield* longestParsedHere(Effect.flip(readDocument("json", bytesOf(long))))
      expect(value).toMatchObject({ reason: "duplicate_key", position: { line: 2, column: 1 } })
      expect(longest).toBeLessThan(longestReadHere)
    })
  )

  it.live("a document above 1 MiB can be read after an earlier reading was interrupted", () =>
    Effect.gen(function* () {
      yield* Effect.raceFirst(readState(large), Effect.yieldNow)
      expect(Option.isSome(yield* readState(large))).toBe(true)
    })
  )

  it.live("documents above 1 MiB that arrive during a reading are read as well", () =>
    Effect.gen(function* () {
      const read = yield* Effect.all([readState(large), readState(large), readDocument("json", large)], {
        concurrency: "unbounded"
      })
      expect(read.length).toBe(3)
    })
  )
})

describe("Documents: long agent reports", () => {
  const evidence = {
    tool: { name: "opentofu", version: "1.10.0" },
    sandboxLevel: "bubblewrap",
    envNames: [],
    diagnostics: [{ severity: "error", summary: "before\u202eafter" }]
  }
  const bytes = new Uint8Array(longestReadHere).map((_, index) => index % 251)
  const output = (index: number) => ({
    name: `output ${index}`,
    type: "dynamic",
    value: JSON.parse(`{"__proto__":[${index}],"value":{"redacted":null}}`),
    sensitive: true
  })
  const applied = bytesOf({
    kind: "apply",
    status: "ended",
    outcome: {
      ...evidence,
      exit: "failed",
      outputs: Array.from({ length: 12_000 }, (_, index) => output(index)),
      rejectedState: Buffer.from(bytes).toString("base64"),
      changedAnything: true,
      possiblyCreated: [],
      sandboxKilled: false
    }
  })
  const failed = bytesOf({
    kind: "plan",
    status: "failed",
    failure: {
      _tag: "RunnerFailure",
      reason: "plan_failed",
      phase: "plan",
      message: "m".repeat(longestReadHere),
      diagnostics: evidence.diagnostics,
      sandboxKilled: false
    }
  })
  const left = bytesOf({
    state: Buffer.from(bytes).toString("base64"),
    started: [],
    completed: [],
    possiblyCreated: [],
    changedAnything: true
  })

  /** Unwraps the secrets in a value, so that values can be compared. */
  const revealed = (value: unknown) =>
    JSON.stringify(value, (_key, member: unknown) => {
      const inner = Redacted.isRedacted(member) ? { secret: Redacted.value(member) } : member
      return inner instanceof Uint8Array ? Buffer.from(inner).toString("base64") : inner
    })

  const decoded = <A>(schema: Schema.Codec<A, unknown>, document: Uint8Array) =>
    Schema.decodeUnknownEffect(schema)(JSON.parse(new TextDecoder().decode(document)))

  it.live("an agent's report above 1 MiB is read with the same structure and wrapped secrets as a short report", () =>
    Effect.gen(function* () {
      for (const document of [applied, failed]) {
        const { longest, value } = yield* longestParsedHere(readJobResult(document))
        const expected = receivedResult(yield* decoded(JobResult, document))
        expect(revealed(value) === revealed(expected)).toBe(true)
        expect(revealed(value).includes("\u202e")).toBe(false)
        expect(longest).toBe(0)
      }
      const { longest, value } = yield* longestParsedHere(readUnfinishedApply(left))
      expect(revealed(value) === revealed(yield* decoded(UnfinishedApply, left))).toBe(true)
      expect(longest).toBe(0)
      const failure = yield* readJobResult(failed)
      expect(failure.status === "failed" && failure.failure).toBeInstanceOf(RunnerFailure)
    })
  )

  it.live("a long agent's report that does not match the schema is rejected", () =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(readJobResult(left))).toMatchObject({ _tag: "JsonRefusal" })
      expect(yield* Effect.flip(readUnfinishedApply(applied))).toMatchObject({ _tag: "JsonRefusal" })
    })
  )
})

describe("Documents: deep nesting", () => {
  const deep = (length: number) => bytesOf(`{"version":4,"serial":1,"lineage":"l","x":${"[".repeat(length)}`)

  it.live("the scan rejects a document that is nested too deeply", () =>
    Effect.gen(function* () {
      for (const length of [2000, 20_000_000]) {
        const { longest, value } = yield* longestParsedHere(readState(deep(length)))
        expect(value).toEqual(Option.none())
        // The scan parses only short strings, up to the length of the state's own field names.
        expect(longest).toBeLessThan(20)
      }
    })
  )

  it.live("every reader rejects a document that is nested too deeply", () =>
    Effect.gen(function* () {
      const closed = bytesOf(`${"[".repeat(2000)}${"]".repeat(2000)}`)
      for (const kind of [
        "json",
        "state",
        "plan",
        "outputs",
        "providers",
        "resource",
        "instance",
        "jobResult",
        "leftOver",
        "texts"
      ] as const) {
        expect(yield* Effect.flip(readDocument(kind, closed, documentLimits))).toMatchObject({ _tag: "JsonRefusal" })
      }
    })
  )

  it.live("a document may contain as many values as its reader allows", () =>
    Effect.gen(function* () {
      const state = bytesOf({ version: 4, serial: 1, lineage: "l", x: [[], [], []] })
      expect(Option.isSome(yield* scanState(state, 8))).toBe(true)
      expect(Option.isSome(yield* scanState(state, 7))).toBe(false)
    })
  )
})
