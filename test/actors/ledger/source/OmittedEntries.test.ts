import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { suite } from "../../../support/Effect.ts"
import { install } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const plain = 'resource "terraform_data" "a" {\n}\n'
const reader = 'output "a" {\n  value = file("${path.module}/notes/a.txt")\n}\n'

describe.skipIf(Bun.which("terraform") === null)("Omitted entries", () => {
  tests.live("omitted entries of a repository are reported, and block only the modules that need them", () =>
    Effect.gen(function* () {
      const far = yield* install("far", { "main.tf": plain, "docs/README": "1", "docs/readme": "2" })
      expect([far.phase, far.diagnostics]).toEqual(["reviewable", []])
      const near = yield* install("near", { "main.tf": reader, "notes/a.txt": "1", "notes/A.txt": "2" })
      expect([near.phase, near.diagnostics.map(({ code, path }) => `${code} ${path ?? ""}`)]).toEqual([
        "failed",
        ["module_unsupported ", "omitted_entry_needed notes/a.txt"]
      ])
      const configuration = yield* install("configuration", { "main.tf": plain, "Main.tf": plain, "other.tf": "" })
      expect([configuration.phase, configuration.diagnostics.map(({ code }) => code)]).toEqual([
        "failed",
        ["module_unsupported", "config_file_omitted", "config_file_omitted"]
      ])
    })
  )
})
