import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  authorityColumns,
  authorityMoved,
  fenceColumns,
  guardText
} from "../../../../actors/ledger/capsule/AuthorityColumns.ts"

const capsule = {
  id: "cap_a",
  status: "active",
  runtime_safety: "safe",
  execution_authority_epoch: 2,
  install_config_id: "icfg_a",
  install_config_digest: "sha256:a",
  current_state_version_id: "sv_a",
  current_state_generation: 3
} as const

const run = { execution_authority_epoch: 2, install_config_id: "icfg_a", base_state_generation: 3 }

test("the text from which the authority guard is computed never changes, so guards held by clients remain valid", () => {
  expect(guardText(capsule)).toBe('["cap_a","active","safe",2,"icfg_a","sha256:a","sv_a",3]')
})

test.each(authorityColumns.map(({ column }) => [column] as const))(
  "changing %s changes the authority guard",
  (column) => {
    expect(guardText({ ...capsule, [column]: "another" })).not.toBe(guardText(capsule))
  }
)

test("the Capsule fence covers every authority column marked as fenced", () => {
  const ofTable = authorityColumns.filter(({ fenced }) => fenced).map(({ column }) => column)
  expect<ReadonlyArray<string>>(fenceColumns).toEqual(ofTable)
  expect(authorityColumns.filter(({ fenced }) => !fenced).map(({ column }) => column)).toEqual([
    "runtime_safety",
    "install_config_digest"
  ])
})

test("a Run's Capsule counts as changed if any recorded authority value differs", () => {
  expect(authorityMoved(run, capsule)).toBe(false)
  const recorded = authorityColumns.flatMap((listed) => ("ofRun" in listed ? [listed] : []))
  expect<ReadonlyArray<string>>(recorded.map(({ ofRun }) => ofRun).sort()).toEqual(Object.keys(run).sort())
  for (const { column, ofRun } of recorded) {
    expect([ofRun, authorityMoved({ ...run, [ofRun]: null }, capsule)]).toEqual([ofRun, true])
    expect([column, authorityMoved(run, { ...capsule, [column]: "another" })]).toEqual([column, true])
  }
})

test("only one module defines the coordinator phases of a Capsule, and only one defines the error about a blocking Run", () => {
  const root = join(import.meta.dir, "../../../../actors")
  const texts = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
  const saying = (part: string) => texts.filter(({ text }) => text.includes(part)).map(({ path }) => path)
  expect(saying("phase NOT IN")).toEqual([])
  expect(saying("of this Capsule is ${")).toEqual([join("ledger", "capsule", "ConflictingRuns.ts")])
})
