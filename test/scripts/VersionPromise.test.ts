import { describe, expect, test } from "bun:test"
import { Effect, FileSystem } from "effect"
import {
  type Facts,
  presentFacts,
  promiseChanges,
  snapshotFile,
  snapshotText,
  unnamedChanges
} from "../../scripts/VersionPromise.ts"
import { live } from "../src/cli/support/CommandLine.ts"

const changelog = (unreleased: string) => `# Changelog

## Unreleased
${unreleased}

## 0.1.0
- \`SVC_OLD\` was added.
`

describe("Version promise", () => {
  live("the changelog mentions every change to the facts that the last release promised", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const text = yield* files.readFileString(new URL("../../CHANGELOG.md", import.meta.url).pathname)
      const facts = yield* presentFacts
      const changes = yield* Effect.forEach(Object.entries(facts), ([name, list]) =>
        Effect.map(files.readFileString(snapshotFile(name)), (snapshot) => promiseChanges(snapshot, list))
      )
      // List each of these changes, in backticks, in the section "Unreleased" of CHANGELOG.md.
      expect(unnamedChanges(changes.flat(), text)).toEqual([])
      for (const list of Object.values<Facts>(facts)) expect(list.size).toBeGreaterThan(9)
    })
  )

  const before: Facts = new Map([
    ["GET /runs", "{}"],
    ["Run", "closed"],
    ["Run.status", "string"],
    ["SVC_PORT", "port"]
  ])
  const snapshot = snapshotText(before)
  const changed = (...entries: ReadonlyArray<readonly [string, string]>) => new Map([...before, ...entries])

  test("equal facts in a different order are not a change", () => {
    expect(promiseChanges(snapshot, new Map([...before].toReversed()))).toEqual([])
  })

  test("the comparison finds added, removed and changed facts", () => {
    const facts = changed(["Run.note", "string"], ["SVC_PORT", "number"])
    facts.delete("GET /runs")
    expect(promiseChanges(snapshot, facts)).toEqual([
      ["GET /runs", "removed"],
      ["Run.note", "added"],
      ["SVC_PORT", "changed"]
    ])
  })

  test("two long facts that differ only at the end are reported as different", () => {
    const long = "x".repeat(500)
    const facts = snapshotText(new Map([["Run", `${long}a`]]))
    expect(promiseChanges(facts, new Map([["Run", `${long}b`]]))).toEqual([["Run", "changed"]])
  })

  test("a change must be mentioned in the unreleased section of the changelog", () => {
    expect(unnamedChanges([["SVC_OLD", "removed"]], changelog("- Nothing."))).toEqual(["SVC_OLD (removed)"])
    expect(unnamedChanges([["SVC_OLD", "removed"]], changelog("- `SVC_OLD` is gone."))).toEqual([])
  })

  test("a changelog entry with a parent's name covers the parent's added members, but not its changed members", () => {
    const text = changelog("- `Run` has more fields, and `svc pr list` is new.")
    expect(
      unnamedChanges(
        [
          ["Run.note", "added"],
          ["svc pr list --output", "added"]
        ],
        text
      )
    ).toEqual([])
    expect(unnamedChanges([["Run.note", "changed"]], text)).toEqual(["Run.note (changed)"])
  })
})
