import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { manifestRulesVersion } from "../../../../schema/manifest/ManifestRulesVersion.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { suite } from "../../../support/Effect.ts"
import { install, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const label = { ja: "名前", en: "Name" }
const input = (name: string) => ({ name, source: { kind: "user" }, label })
const text = 'variable "title" {\n  type = string\n}\n'
const environment = (type: string) => `variable "env" {\n  type    = ${type}\n  default = {}\n}\n`
const bound = [{ kind: "secret.generated", deliver: { bindings: { value: "SESSION_KEY" } } }]
const identity = {
  kind: "identity.oidc",
  callbackPath: "/auth/callback",
  scopes: ["openid"],
  deliver: { variables: { accountsUrl: "a", issuerUrl: "b", clientId: "c", ownerSubject: "d" } }
}

const manifest = JSON.stringify({
  apiVersion: "svc.com/v2.4",
  kind: "Repository",
  install: {
    modules: {
      // If keys were relative to the Source's folder `apps`, the first two keys would refer to the root of the Source.
      ".": { inputs: [input("missing")] },
      apps: { inputs: [input("title")] },
      "apps/web": {
        inputs: [input("title")],
        requires: [{ kind: "http.endpoint", deliver: { variables: { url: "url" } } }, identity]
      },
      "apps/map": { inputs: [], requires: bound },
      "apps/any": { inputs: [], requires: bound },
      "apps/gone": { inputs: [] }
    }
  }
})

const files = {
  ".well-known/svc.json": manifest,
  ".well-known/other.json": "{}",
  "main.tf": text,
  "apps/main.tf": text,
  "apps/web/main.tf": text,
  "apps/map/main.tf": environment("map(string)"),
  "apps/any/main.tf": environment("any"),
  "apps/plain/main.tf": text
}

/** A synced Source that uses only one folder of the repository. */
const synced = Effect.fnUntraced(function* (name: string, defaultPath: string) {
  const { commit, context, url, workspaceId } = yield* TestPlane
  const sources = yield* Sources
  yield* commit("manifests", files)
  const { source } = yield* sources.create(context, {
    workspaceId,
    name,
    url,
    defaultRef: "manifests",
    defaultPath: RelativePath.make(defaultPath)
  })
  yield* settled((yield* sources.sync(context, source.id, {})).id)
  const [snapshot] = (yield* sources.snapshots(source.id, { limit: 1 })).items
  return { source, snapshot: snapshot ?? (yield* Effect.die("no snapshot")) }
})

describe("Repository manifests", () => {
  tests.live(
    "a repository's manifest identifies modules by repository path, and each module is validated separately",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const { source, snapshot } = yield* synced("apps", "apps")
        expect(snapshot.repositoryManifest).toMatchObject({ status: "valid", rulesVersion: manifestRulesVersion })
        const checked = yield* (yield* Sources).checkCompatibility(context, source.id, {
          sourceSnapshotId: snapshot.id,
          modulePath: "."
        })
        const report = checked.compatibilityReport
        expect(report.manifest).toMatchObject({ status: "adopted", diagnostics: [] })
        const verdicts = report.modules?.map(({ key, path, reasons, verdict }) => [
          path,
          key,
          verdict,
          reasons.map(({ code }) => code).join()
        ])
        expect(verdicts).toEqual([
          [".", "apps", "adopted", ""],
          [
            "web",
            "apps/web",
            "rejected",
            "oidc_requires_four_slots,variable_not_found,variable_not_found,variable_not_found,variable_not_found,variable_not_found,oidc_not_allowed"
          ],
          ["map", "apps/map", "adopted", ""],
          ["any", "apps/any", "rejected", "binding_environment_not_found"],
          ["gone", "apps/gone", "rejected", "module_not_found"],
          ["plain", "apps/plain", "absent", ""]
        ])
      })
  )

  tests.live("a repository's manifest is never served as a file, regardless of the Source's folder", () =>
    Effect.gen(function* () {
      const sources = yield* Sources
      const whole = yield* synced("whole", ".")
      const hidden = yield* synced("hidden", ".well-known")
      const codeOf = (at: typeof whole, path: string) =>
        Effect.map(
          Effect.match(sources.file(at.source.id, at.snapshot.id, path), {
            onFailure: ({ code }): string => code,
            onSuccess: ({ path: found }) => found
          }),
          (found) => found
        )
      expect(yield* codeOf(whole, ".well-known/svc.json")).toBe("permission_denied")
      expect(yield* codeOf(hidden, "svc.json")).toBe("permission_denied")
      expect(yield* codeOf(hidden, "other.json")).toBe("other.json")
      expect(yield* codeOf(whole, "apps/.well-known/svc.json")).toBe("not_found")
    })
  )

  tests.live(
    "a manifest with a field that its version lacks is invalid, and the error gives the version that has the field",
    () =>
      Effect.gen(function* () {
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sources = yield* Sources
        const module = { inputs: [], sourceBuild: { commands: [{ argv: ["true"] }], outputs: ["out"] } }
        const older = { apiVersion: "svc.com/v2.2", kind: "Repository", install: { modules: { ".": module } } }
        yield* commit("older", { ".well-known/svc.json": JSON.stringify(older), "main.tf": text })
        const { source } = yield* sources.create(context, { workspaceId, name: "older", url, defaultRef: "older" })
        yield* settled((yield* sources.sync(context, source.id, {})).id)
        const [snapshot] = (yield* sources.snapshots(source.id, { limit: 1 })).items
        expect(snapshot?.repositoryManifest).toMatchObject({
          status: "invalid",
          reason: expect.stringContaining("sourceBuild needs svc.com/v2.3 or later")
        })
      })
  )
})

describe.skipIf(Bun.which("terraform") === null)("Manifest assistance", () => {
  tests.live(
    "a repository's manifest report lists the dropped parts with reasons",
    () =>
      Effect.gen(function* () {
        const module = { inputs: [input("title"), input("missing")], requires: bound }
        const document = { apiVersion: "svc.com/v2.4", kind: "Repository", install: { modules: { ".": module } } }
        const offered = { ".well-known/svc.json": JSON.stringify(document), "main.tf": text }
        const plan = yield* install("dropped", offered, { variables: { title: "a" } })
        expect([plan.phase, plan.diagnostics.map(({ code, severity }) => [severity, code])]).toEqual([
          "reviewable",
          [
            ["warning", "manifest_assistance_dropped"],
            ["warning", "variable_not_found"],
            ["warning", "binding_environment_not_found"]
          ]
        ])
        expect(plan.diagnostics[0]?.message).toContain("input title, input missing, requirement secret.generated")
        expect(plan.diagnostics[1]?.message).toContain("/install/modules/./inputs/1/name")
        const invalid = yield* install(
          "dropped-invalid",
          { ...offered, ".well-known/svc.json": "{}" },
          { variables: { title: "a" } }
        )
        expect(invalid.diagnostics.map(({ code }) => code)).toEqual(["manifest_assistance_dropped", "unknown_version"])
        const kept = yield* install("kept", { "main.tf": text }, { variables: { title: "a" } })
        expect([kept.phase, kept.diagnostics]).toEqual(["reviewable", []])
      }),
    60_000
  )
})
