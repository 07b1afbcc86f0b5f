import { afterAll, describe, expect } from "bun:test"
import { Context, Effect, Layer } from "effect"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../../support/ControlPlane.ts"
import { suite } from "../../../support/Effect.ts"
import { driven, freshKey, install, planned, requestOf } from "../../../support/Journey.ts"
import { servedRepository, TestPlane, testPlane } from "../../../support/TestPlane.ts"

/** Serves a repository that has no commits. */
class EmptyRepository extends Context.Service<EmptyRepository, { readonly origin: string; readonly url: string }>()(
  "test/actors/ledger/source/EmptyRepository"
) {
  static readonly layer = Layer.effect(
    EmptyRepository,
    Effect.flatMap(temporaryFolder, (folder) => servedRepository(`${folder}/empty.git`, true))
  )
}

const limits = { files: 40, fileBytes: 200_000, totalBytes: 400_000 }
const tests = suite(
  Layer.unwrap(Effect.map(EmptyRepository, ({ origin }) => testPlane({ git: limits, gitOrigins: [origin] }))).pipe(
    Layer.provideMerge(EmptyRepository.layer),
    Layer.provide(platform)
  )
)
afterAll(tests.dispose)

const main = `resource "terraform_data" "a" { input = "a" }`

describe.skipIf(Bun.which("terraform") === null)("Untrusted repositories", () => {
  tests.live(
    "svc rejects a repository that is empty, too large or has too many files, and returns the reason",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const { url } = yield* EmptyRepository
        const request = yield* requestOf("empty")
        const empty = yield* (yield* InstallPlans).create(
          context,
          workspaceId,
          { ...request, source: { name: "empty", url } },
          freshKey()
        )
        const nothing = yield* driven(empty.value.id)
        expect([nothing.phase, nothing.diagnostics[0]?.code]).toEqual(["failed", "source_empty"])

        const large: ReadonlyArray<readonly [string, Readonly<Record<string, string>>]> = [
          ["large-file", { "main.tf": main, "blob.bin": "x".repeat(200_001) }],
          ["large-tree", { "main.tf": main, a: "x".repeat(199_000), b: "y".repeat(199_000), c: "z".repeat(199_000) }],
          [
            "many-files",
            { "main.tf": main, ...Object.fromEntries(Array.from({ length: 41 }, (_, index) => [`f${index}`, "x"])) }
          ]
        ]
        for (const [branch, files] of large) {
          const plan = yield* install(branch, files)
          expect([branch, plan.phase, plan.diagnostics[0]?.code]).toEqual([branch, "failed", "source_too_large"])
        }
      }),
    120_000
  )

  tests.live(
    "links, submodules and Git LFS pointers in a repository are omitted and reported",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sources = yield* Sources
        const { plan } = yield* planned("mixed", {
          "main.tf": main,
          "passwd.txt": { kind: "symlink", target: "/etc/passwd" },
          "up.txt": { kind: "symlink", target: "../../outside.tf" },
          vendored: { kind: "submodule", commit: "1".repeat(40) },
          "large.bin": `version https://git-lfs.github.com/spec/v1\noid sha256:${"0".repeat(64)}\nsize 12345\n`
        })
        const sourceId = plan.sourceId ?? (yield* Effect.die("no Source"))
        const [snapshot] = (yield* sources.snapshots(sourceId, { limit: 1 })).items
        expect(snapshot?.omitted.map(({ kind, path }) => [path, kind])).toEqual([
          ["passwd.txt", "symlink"],
          ["up.txt", "symlink"],
          ["vendored", "submodule"]
        ])
        if (snapshot === undefined) return
        expect((yield* Effect.flip(sources.file(sourceId, snapshot.id, "passwd.txt"))).code).toBe("invalid_request")
        expect((yield* Effect.flip(sources.file(sourceId, snapshot.id, "../main.tf"))).code).toMatch(
          /not_found|invalid_request/
        )
        // The caller may act only on the Source in the URL (Z3).
        const { url, workspaceId } = yield* TestPlane
        const other = (yield* sources.create(context, { workspaceId, name: "another", url })).source.id
        expect(yield* sources.file(sourceId, snapshot.id, "main.tf")).toMatchObject({
          kind: "svc.source-snapshot-file@v1",
          sourceSnapshotId: snapshot.id,
          path: "main.tf"
        })
        expect((yield* Effect.flip(sources.file(other, snapshot.id, "main.tf"))).code).toBe("not_found")
        expect((yield* Effect.flip(sources.installModules(other, snapshot.id))).code).toBe("not_found")
        const report = yield* sources.checkCompatibility(context, sourceId, {
          sourceSnapshotId: snapshot.id,
          modulePath: yield* Effect.map(requestOf("mixed"), ({ options }) => options.modulePath)
        })
        const linked = yield* install("linked", { "main.tf": main, "up.tf": { kind: "symlink", target: "main.tf" } })
        expect(linked.diagnostics.map(({ code }) => code)).toEqual(["module_unsupported", "config_file_omitted"])
        expect(report.compatibilityReport.findings.map(({ message }) => message).join(" ")).toContain("Git LFS")
      }),
    120_000
  )

  tests.live(
    "the scan finishes even for a hostile repository",
    () =>
      Effect.gen(function* () {
        const poison: Readonly<Record<string, string>> = {
          brackets: `output "a" { value = ${"[".repeat(20_000)}${"]".repeat(20_000)} }`,
          braces: "a {\n".repeat(20_000),
          heredoc: `output "a" { value = <<EOT\n${"${".repeat(10_000)}`,
          bytes: "\u0000\u0001\u0002".repeat(1000)
        }
        for (const [name, text] of Object.entries(poison)) {
          const plan = yield* install(`poison-${name}`, { "main.tf": text })
          expect([name, plan.phase]).toEqual([name, "failed"])
          expect(plan.diagnostics[0]?.message.length ?? 0).toBeGreaterThan(0)
        }
        expect((yield* planned("after-poison", { "main.tf": main })).plan.status).toBe("waiting_approval")
      }),
    120_000
  )
})
