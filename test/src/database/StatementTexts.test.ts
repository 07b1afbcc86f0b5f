import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { Statement } from "effect/sql"
import { withRememberedTexts } from "../../../src/database/StatementTexts.ts"

/** Wraps a compiler and counts the statement texts that it generates. */
const counted = () => {
  let written = 0
  const plain = Statement.makeCompilerSqlite()
  const compiler: Statement.Compiler = {
    ...plain,
    compile: (statement, withoutTransform) => {
      written += 1
      return plain.compile(statement, withoutTransform)
    },
    withoutTransform: plain
  }
  return { compiler, written: () => written }
}

const plain = (segments: ReadonlyArray<Statement.Segment>) =>
  Statement.makeCompilerSqlite().compile(Statement.fragment(segments), false)

// Uses few distinct words, so that a text often equals a column name.
const words = fc.constantFrom("a", "b", "SELECT ", " = ")
const values: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<undefined | null | boolean>(undefined, null, true),
  fc.integer(),
  fc.string(),
  fc.uint8Array({ maxLength: 3 })
)
const columns = fc.dictionary(words, values, { minKeys: 1, maxKeys: 3 })

const segments = fc.array(
  fc.oneof(
    words.map((word) => Statement.literal(word)),
    fc.tuple(words, fc.array(values, { maxLength: 2 })).map(([word, given]) => Statement.literal(word, given)),
    words.map(Statement.identifier),
    values.map(Statement.parameter),
    fc.array(values, { maxLength: 3 }).map(Statement.arrayHelper),
    columns.map((row) => Statement.recordInsertHelper([row])),
    columns.map((row) => Statement.recordInsertHelper([row, row])),
    columns.map((row) => Statement.recordInsertHelper([row]).returning("*")),
    columns.map((row) => Statement.recordInsertHelper([{ ...row, c: Statement.fragment([Statement.parameter(1)]) }])),
    columns.map((row) => Statement.recordUpdateHelperSingle(row, [])),
    columns.map((row) => Statement.recordUpdateHelperSingle(row, ["a"])),
    columns.map((row) => Statement.recordUpdateHelperSingle(row, []).returning("*"))
  ),
  { maxLength: 6 }
)

describe("Statement cache", () => {
  for (const most of [1, 50, 4096]) {
    test(`the statement cache returns the same result as the compiler, with room for ${most} texts`, () => {
      const remembering = withRememberedTexts(Statement.makeCompilerSqlite(), most)
      fc.assert(
        fc.property(segments, (given) => {
          for (let times = 0; times < 2; times++) {
            expect(remembering.compile(Statement.fragment(given), false)).toEqual(plain(given))
          }
        }),
        { numRuns: 2000 }
      )
    })
  }

  test("the statement cache does not confuse a literal with a column", () => {
    const remembering = withRememberedTexts(Statement.makeCompilerSqlite())
    const { literal, recordInsertHelper } = Statement
    for (const given of [
      [recordInsertHelper([{ a: 1 }]), literal("b"), literal("c")],
      [recordInsertHelper([{ a: 1, b: 2 }]), literal("c")],
      [recordInsertHelper([{ a: 1, b: 2, c: 3 }])]
    ]) {
      expect(remembering.compile(Statement.fragment(given), false)).toEqual(plain(given))
    }
  })

  test("the statement cache generates each text once, and reuses the string for other values", () => {
    const { compiler, written } = counted()
    const remembering = withRememberedTexts(compiler)
    const statement = (id: string) =>
      Statement.fragment([
        Statement.literal("UPDATE runs SET "),
        Statement.recordUpdateHelperSingle({ status: id, note: null }, []),
        Statement.literal(" WHERE id = "),
        Statement.parameter(id)
      ])
    expect(remembering.compile(statement("one"), false)).toEqual([
      `UPDATE runs SET "status" = ?, "note" = ? WHERE id = ?`,
      ["one", null, "one"]
    ])
    expect(remembering.compile(statement("two"), false)[1]).toEqual(["two", null, "two"])
    expect(written()).toBe(1)
  })

  test("the statement cache drops all texts once it is full, and generates them again", () => {
    const { compiler, written } = counted()
    const remembering = withRememberedTexts(compiler, 2)
    const compile = (text: string) => remembering.compile(Statement.fragment([Statement.literal(text)]), false)[0]
    expect(["one", "two", "one", "two"].map(compile)).toEqual(["one", "two", "one", "two"])
    expect(written()).toBe(2)
    expect(["three", "one", "three", "two"].map(compile)).toEqual(["three", "one", "three", "two"])
    expect(written()).toBe(5)
  })
})
