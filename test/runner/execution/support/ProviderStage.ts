import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import type { PlanJob, ProviderCredentials } from "../../../../runner/execution/RunJob.ts"
import type { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import type { SandboxSettingsShape } from "../../../../runner/sandbox/SandboxSettings.ts"
import { RunnerSettings } from "../../../../runner/execution/RunnerSettings.ts"
import { providerMirror } from "../../../support/ProviderMirror.ts"
import { type Placed, type Tree, planJob, temporaryFolder } from "./RunnerHarness.ts"
import { runnerWith, type TestRunner } from "./TestRunner.ts"

export const provider = "example.test/acme/demo"
export const tokenA = "token-alpha-canary-1234"
export const tokenB = "token-beta-canary-5678"
export const ownerOf = (token: string) => createHash("sha256").update(token).digest("hex").slice(0, 8)

export const required = `
terraform {
  required_providers {
    demo = {
      source  = "${provider}"
      version = "1.0.0"
    }
  }
}
`
export const note = (name: string, more = "") => `
resource "demo_note" "${name}" {
  name    = "${name}"
  content = "content of ${name}"
  ${more}
}
`

export const credentials = (notesDir: string, more: Partial<ProviderCredentials> = {}): ProviderCredentials => ({
  provider,
  moduleLocalName: "demo",
  connection: "conn_a",
  values: { DEMO_TOKEN: Redacted.make(tokenA), DEMO_DIR: Redacted.make(notesDir) },
  files: [],
  config: {},
  argumentNames: {},
  ...more
})

export interface Stage {
  readonly folder: string
  readonly cacheFolder: string
  /** A mirror of archives. The Run owns packages installed from the mirror, like packages from a registry. */
  readonly packed: { readonly path: string; readonly required: true }
  readonly notesDir: string
  readonly job: (tree: Tree, more?: Partial<Placed<PlanJob>>) => Placed<PlanJob>
}

/** Runs the body with a runner whose sandbox may reach one mirror and one folder of notes. */
export const onStage = <E>(
  body: (stage: Stage) => Effect.Effect<unknown, E, TestRunner | Sandbox>,
  useCache = false,
  settings: Partial<SandboxSettingsShape> = {}
) =>
  Effect.gen(function* () {
    const mirror = yield* providerMirror
    const folder = yield* temporaryFolder
    const cacheFolder = join(folder, "cache")
    const stage: Stage = {
      folder,
      cacheFolder,
      packed: { path: mirror.packed, required: true },
      notesDir: mirror.notesDir,
      job: (tree, more = {}) =>
        planJob(folder, tree, {
          mirror: { path: mirror.path, required: true },
          credentials: [credentials(mirror.notesDir)],
          ...more
        })
    }
    yield* body(stage).pipe(
      Effect.provide(
        runnerWith({ ...settings, extraReadOnly: [mirror.interpreter], extraWritable: [mirror.notesDir] })
      ),
      Effect.provideService(RunnerSettings, { providerCache: useCache ? cacheFolder : undefined, mirror: undefined })
    )
  })

export const notesOf = (notesDir: string): ReadonlyArray<Readonly<Record<string, unknown>>> =>
  readdirSync(notesDir)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(notesDir, name), "utf8")))
