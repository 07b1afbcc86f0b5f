import { existsSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../actors/ledger/source/Sources.ts"
import { StaticChecks } from "../../../runner/execution/StaticChecks.ts"
import { suite } from "../../support/Effect.ts"
import { settled } from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

/** Checks the modules of a commit that contains these files. */
const checked = Effect.fnUntraced(function* (
  branch: string,
  files: Record<string, string>,
  modules: ReadonlyArray<{ readonly path: string; readonly obstacle: string | undefined }>
) {
  const { commit, context, url, workspaceId } = yield* TestPlane
  yield* commit(branch, files)
  const sources = yield* Sources
  const { source } = yield* sources.create(context, { workspaceId, name: branch, url, defaultRef: branch })
  yield* settled((yield* sources.sync(context, source.id, {})).id)
  const { items } = yield* sources.snapshots(source.id, { limit: 1 })
  const checks = yield* StaticChecks.pipe(Effect.provide(StaticChecks.layer))
  return yield* checks.of(items[0]?.archiveDigest ?? "", modules)
})

const root = { path: ".", obstacle: undefined }

describe("Static checks", () => {
  tests.live("static checks validate a module that needs no provider, and list files whose formatting differs", () =>
    Effect.gen(function* () {
      const found = yield* checked(
        "static-checks",
        {
          "main.tf": 'output "a" {\n  value = 1\n}\n',
          "wrong/main.tf": 'output "a" { value = var.missing }\n',
          "loose/main.tf": 'output "a" {\nvalue   = 1\n}\n',
          "needs/main.tf": 'output "a" {\n  value = 1\n}\n'
        },
        [
          root,
          { path: "wrong", obstacle: undefined },
          { path: "loose", obstacle: undefined },
          { path: "needs", obstacle: "It needs a provider." }
        ]
      )
      expect(Object.fromEntries(found)).toEqual({
        ".": { validation: { status: "passed" }, formatting: { status: "passed" } },
        wrong: {
          validation: { status: "failed", details: ["Reference to undeclared input variable (main.tf:1)"] },
          formatting: { status: "passed" }
        },
        loose: { validation: { status: "passed" }, formatting: { status: "failed", details: ["loose/main.tf"] } },
        needs: {
          validation: { status: "not_run", reason: "It needs a provider." },
          formatting: { status: "passed" }
        }
      })
    })
  )

  tests.live("static checks run no provisioner, data source or provider from the commit", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* TestPlane
      const witness = join(dataDir, "..", "checked")
      const plugin = `#!/bin/sh\ntouch ${witness}-plugin\n`
      const provider = ".terraform/providers/registry.opentofu.org/hashicorp/external/2.3.4/linux_amd64"
      const found = yield* checked(
        "static-hostile",
        {
          "main.tf": `resource "terraform_data" "a" {
  provisioner "local-exec" {
    command = "touch ${witness}-provisioner"
  }
}
data "external" "a" {
  program = ["touch", "${witness}-external"]
}
`,
          [`${provider}/terraform-provider-external_v2.3.4`]: plugin,
          ".terraform/modules/modules.json": '{"Modules":[]}'
        },
        [root]
      )
      expect(found.get(".")).toMatchObject({ validation: { status: "failed" }, formatting: { status: "passed" } })
      for (const name of ["plugin", "provisioner", "external"]) {
        expect([name, existsSync(`${witness}-${name}`)]).toEqual([name, false])
      }
    })
  )

  tests.live("no check succeeds for a file that cannot be parsed", () =>
    Effect.gen(function* () {
      const found = yield* checked("static-broken", { "main.tf": 'output "a" {\n' }, [root])
      expect(found.get(".")).toMatchObject({
        validation: { status: "failed" },
        formatting: { status: "not_run", reason: expect.any(String) }
      })
    })
  )
})
