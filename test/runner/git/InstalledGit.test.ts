import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as fs from "node:fs"
import { GitPolicy, type GitPolicyShape } from "../../../runner/git/GitPolicy.ts"
import { InstalledGit } from "../../../runner/git/InstalledGit.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const usable = (native: GitPolicyShape["native"]) =>
  Effect.flatMap(InstalledGit, (installed) => installed.usable).pipe(
    Effect.provide(
      InstalledGit.layer.pipe(Layer.provide(Layer.merge(GitPolicy.layerWith({ native }), NodeServices.layer)))
    )
  )

/** Sets these environment variables while the effect runs. */
const withEnvironment =
  (values: Record<string, string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const before = { ...process.env }
        Object.assign(process.env, values)
        return before
      }),
      () => effect,
      (before) =>
        Effect.sync(() => {
          for (const name of Object.keys(values)) {
            if (before[name] === undefined) delete process.env[name]
            else process.env[name] = before[name]
          }
        })
    )

const program = (folder: string, version: string) => {
  fs.writeFileSync(`${folder}/git`, `#!/bin/sh\necho 'git version ${version}'\n`, { mode: 0o755 })
}

describe("InstalledGit", () => {
  it.live("svc does not search for an installed git if the setting disables installed git", () =>
    Effect.gen(function* () {
      expect(yield* usable("off")).toBeUndefined()
    })
  )

  for (const [version, found] of [
    ["2.37.0", true],
    ["2.50.1 (Apple Git-155)", true],
    ["3.0.0", true],
    ["2.36.9", false],
    ["1.99.0", false],
    ["what", false]
  ] as const)
    it.live(`installed git ${version} is ${found ? "used" : "skipped"}`, () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        program(folder, version)
        // Relative entries of PATH must never be searched.
        const environment = { PATH: `.:${folder}`, NODE_EXTRA_CA_CERTS: "/x", SSL_CERT_FILE: "/x" }
        const here = withEnvironment(environment)
        expect(yield* here(usable("auto"))).toEqual(found ? { program: `${folder}/git`, required: false } : undefined)
        const required = yield* here(Effect.result(usable("required")))
        expect(required._tag).toBe(found ? "Success" : "Failure")
      })
    )

  it.live("installed git is not used for servers whose certificates only this runtime trusts", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      program(folder, "2.50.0")
      const here = withEnvironment({ PATH: folder, NODE_EXTRA_CA_CERTS: "/x", SSL_CERT_FILE: "/y" })
      expect(yield* here(usable("auto"))).toBeUndefined()
    })
  )
})
