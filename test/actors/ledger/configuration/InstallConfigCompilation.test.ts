import { afterAll, describe, expect } from "bun:test"
import { Effect, Layer, Result } from "effect"
import {
  InstallConfigCompilation,
  reviewedPins
} from "../../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import { InstallConfigStore } from "../../../../actors/ledger/configuration/InstallConfigStore.ts"
import type { StagedReport } from "../../../../actors/ledger/source/StagedFindings.ts"
import { suite } from "../../../support/Effect.ts"
import { namedReport, namedRun, namedSnapshot, namedSource } from "../../../support/NamedIds.ts"

const tests = suite(InstallConfigCompilation.layer.pipe(Layer.provide(Layer.mock(InstallConfigStore)({}))))
afterAll(tests.dispose)

const digest = `sha256:${"a".repeat(64)}`
const manifest = JSON.stringify({
  apiVersion: "svc.com/v2.4",
  kind: "Repository",
  install: { modules: { ".": { inputs: [] } } }
})
const place = { url: "https://git.example.com/team/app.git", path: "." }
const snapshot = {
  ...place,
  id: namedSnapshot(1),
  path: ".",
  repositoryManifest: { status: "valid" as const, digest, apiVersion: "svc.com/v2.4" },
  manifestDocument: manifest
}
const report: StagedReport = {
  report: {
    id: namedReport(1),
    sourceId: namedSource(1),
    sourceSnapshotId: namedSnapshot(1),
    modulePath: ".",
    status: "ready",
    findings: [],
    variables: [],
    outputs: [],
    providerPackages: [],
    rootProviderRequirements: [],
    manifest: { status: "absent", diagnostics: [] },
    createdByRunId: namedRun(1),
    createdAt: "2026-01-01T00:00:00.000Z"
  },
  moduleScan: null,
  contractDigest: digest
}
const given = { names: [] }

describe("Installation configurations", () => {
  tests.live("an install configuration is compiled only from reviewed evidence", () =>
    Effect.gen(function* () {
      const compilation = yield* InstallConfigCompilation
      const made = compilation.annotate(report, snapshot)
      expect(made.report.manifest).toEqual({ status: "adopted", digest, diagnostics: [] })
      const pins = reviewedPins(snapshot, namedReport(1), ".")
      expect(Result.isSuccess(compilation.storedConfig(made, snapshot, pins, given))).toBe(true)
      const moved = [
        [made, snapshot, { ...pins, sourceSnapshotId: "snap_2" }, "sourceSnapshotId"],
        [made, snapshot, { ...pins, compatibilityReportId: "rep_2" }, "compatibilityReportId"],
        [made, snapshot, { ...pins, modulePath: "other" }, "modulePath"],
        // The compilation also refuses a report for a different manifest, and a report made without a manifest.
        [
          {
            ...made,
            report: { ...made.report, manifest: { ...made.report.manifest, digest: `sha256:${"b".repeat(64)}` } }
          },
          snapshot,
          pins,
          "manifestDigest"
        ],
        [report, snapshot, pins, "manifestDigest"]
      ] as const
      for (const [staged, from, reviewed, field] of moved) {
        const outcome = compilation.storedConfig(staged, from, reviewed, given)
        const failure = Result.isFailure(outcome) ? outcome.failure : undefined
        expect(failure?._tag === "InstallEvidenceMismatch" ? failure.fields : []).toEqual([field])
      }
    })
  )

  tests.live("a rejected manifest yields a generic installation and the reason for the rejection", () =>
    Effect.gen(function* () {
      const compilation = yield* InstallConfigCompilation
      const refused = [
        // The sync parsed and rejected the manifest. Parsing the manifest again yields the diagnostics.
        {
          ...snapshot,
          repositoryManifest: { status: "invalid" as const, digest, reason: "r" },
          manifestDocument: "{}"
        },
        // For a manifest that is not text, the sync stored only the reason for the rejection.
        {
          ...place,
          id: namedSnapshot(1),
          repositoryManifest: { status: "invalid" as const, digest, reason: "It is not UTF-8." }
        },
        // For a manifest that is too large or not a file, svc does not even store a digest.
        {
          ...place,
          id: namedSnapshot(1),
          repositoryManifest: { status: "invalid" as const, reason: "It is a symlink." }
        }
      ]
      const seen = refused.map((from) => {
        const made = compilation.annotate(report, from)
        const pins = reviewedPins(from, namedReport(1), ".")
        const stored = compilation.storedConfig(made, from, pins, given)
        return {
          status: made.report.manifest.status,
          digested: made.report.manifest.digest !== undefined,
          messages: made.report.manifest.diagnostics.map(({ message }) => message).join(" "),
          assistance: Result.isSuccess(stored) ? stored.success.compiled.assistance : "none"
        }
      })
      expect(seen.map(({ assistance, digested, status }) => [status, digested, assistance])).toEqual(
        refused.map(() => ["invalid", true, "invalid"])
      )
      expect(seen[0]?.messages).toContain("Expected one of svc.com/v1")
      expect(seen[1]?.messages).toBe("It is not UTF-8.")
      expect(seen[2]?.messages).toBe("It is a symlink.")
    })
  )
})
