import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { DeliveryRefused } from "../../actors/inputs/delivery/DeliveryRefused.ts"
import { CheckImpossible } from "../../actors/ledger/source/CompatibilityCheck.ts"
import { RunnerFailureReason } from "../../runner/execution/RunnerFailure.ts"
import { japaneseReason } from "../../src/dashboard/words/FailureReasons.ts"

const actors = fileURLToPath(new URL("../../actors/", import.meta.url))
const sources = (folder: string) =>
  readdirSync(`${actors}${folder}`)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => readFileSync(`${actors}${folder}/${name}`, "utf8"))

/** Patterns that pass a code to a Run's or lane's error: `code: "..."`, `refusal("..."`, `return "source_..."`. */
const written = ["running/agent", "running/execution", "inputs/git"]
  .flatMap(sources)
  .flatMap((text) =>
    [
      ...text.matchAll(/\b(?:code: |refusal\(|blocked\()"([a-z]+(?:_[a-z]+)*)"/g),
      ...text.matchAll(/return "(source_[a-z_]+)"/g)
    ].map(([, code = ""]) => code)
  )

test("every error code of a Run or sync has a message in Japanese", () => {
  const codes = new Set([
    ...written,
    ...RunnerFailureReason.literals,
    ...DeliveryRefused.fields.code.literals,
    ...CheckImpossible.fields.code.literals
  ])
  expect(codes.size).toBeGreaterThan(50)
  expect([...codes]).toContain("agent_lost")
  expect([...codes].filter((code) => japaneseReason(code) === undefined)).toEqual([])
})

test("a failure's message is in Japanese, and an unknown code has no message", () => {
  expect(japaneseReason("source_unreachable")).toMatch(/\p{Script=Hiragana}.*。$/u)
  for (const unknown of ["constructor", "", "new_code"]) expect(japaneseReason(unknown)).toBeUndefined()
})
