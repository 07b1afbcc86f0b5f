import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { fileURLToPath } from "node:url"
import { billOfMaterials } from "../../scripts/Sbom.ts"
import { collectLicenses } from "../../src/licenses/CollectLicenses.ts"
import { live } from "../src/cli/support/CommandLine.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

interface Bill {
  readonly components: ReadonlyArray<{
    readonly name: string
    readonly version: string
    readonly purl?: string
    readonly hashes?: ReadonlyArray<{ readonly alg: string; readonly content: string }>
  }>
}

const names = (components: ReadonlyArray<{ readonly name: string; readonly version: string }>) =>
  components.map(({ name, version }) => `${name}@${version}`).toSorted()

describe("Bill of materials", () => {
  live("the bill of materials lists exactly the bundled components, with hashes from the lock file", () =>
    Effect.gen(function* () {
      const report = yield* collectLicenses(root)
      const text = yield* billOfMaterials(root, report)
      const bill: Bill = JSON.parse(text)
      expect(names(bill.components)).toEqual(names(report.components))
      const packages = bill.components.filter(({ purl }) => purl !== undefined)
      expect(packages.map(({ name }) => name)).toContain("effect")
      for (const { hashes = [], purl } of packages) {
        expect([purl, hashes]).toEqual([
          expect.stringMatching(/^pkg:npm\/(?:%40[\w.-]+\/)?[\w.-]+@\d/),
          [{ alg: "SHA-512", content: expect.stringMatching(/^[0-9a-f]{128}$/) }]
        ])
      }
      expect(yield* billOfMaterials(root, report)).toBe(text)
    })
  )

  live("generating the bill of materials fails if the lock file lacks a bundled package", () =>
    Effect.gen(function* () {
      const report = yield* collectLicenses(root)
      const [first, ...others] = report.components
      const error = yield* Effect.flip(
        billOfMaterials(root, { ...report, components: [{ ...first, version: "0.0.0-unknown" }, ...others] })
      )
      expect(String(error)).toContain(`${first.name}@0.0.0-unknown`)
    })
  )
})
