import { expect, setDefaultTimeout } from "bun:test"
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient } from "effect/http"
import { platform } from "../../src/composition/Platform.ts"
import { hostedServer } from "../e2e/support/HostedServer.ts"
import { it } from "../support/Effect.ts"

setDefaultTimeout(600_000)

const here = fileURLToPath(new URL("./", import.meta.url))

const run = (folder: string, command: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) =>
  Effect.promise(async () => {
    const child = Bun.spawn([...command], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited
    ])
    return { stdout, stderr, code }
  })

const bun = process.execPath

/** Installs the validators and generators from the lock file into a temporary folder. */
const tools = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(`${tmpdir()}/svc-openapi-`)),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  yield* Effect.promise(() => cp(`${here}tools`, folder, { recursive: true }))
  yield* Effect.promise(() => cp(`${here}programs`, `${folder}/programs`, { recursive: true }))
  const installed = yield* run(folder, ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"])
  expect([installed.code, installed.code === 0 ? "" : installed.stderr]).toEqual([0, ""])
  return folder
})

const module = {
  "main.tf":
    'resource "terraform_data" "app" {\n  input = "hello"\n}\noutput "greeting" {\n  value = terraform_data.app.output\n}\n'
}

const Installed = Schema.fromJsonString(
  Schema.Struct({ status: Schema.String, outputs: Schema.Array(Schema.Array(Schema.String)) })
)
const Reported = Schema.fromJsonString(
  Schema.Struct({
    product: Schema.String,
    capsules: Schema.Array(Schema.String),
    runs: Schema.Array(Schema.String),
    kinds: Schema.Array(Schema.String),
    lines: Schema.Boolean,
    refused: Schema.Array(Schema.Union([Schema.String, Schema.Number]))
  })
)

it.live("three validators accept the API description, and two generated clients compile and work", () =>
  Effect.gen(function* () {
    const folder = yield* tools
    const server = yield* hostedServer(module)
    const file = `${folder}/openapi.json`
    const text = yield* Effect.promise(() => fetch(`${server.url}/openapi.json`).then((answer) => answer.text()))
    yield* Effect.promise(() => writeFile(file, text))

    const judged = yield* run(folder, [bun, "validate.mjs", file])
    expect(JSON.parse(judged.stdout)).toEqual({ seriousme: "valid", swagger: "valid" })
    const linted = yield* run(folder, [bun, "--bun", "node_modules/@redocly/cli/bin/cli.js", "lint", file], {
      REDOCLY_TELEMETRY: "off",
      REDOCLY_SUPPRESS_UPDATE_NOTICE: "true"
    })
    expect(`${linted.stdout}${linted.stderr}`).toContain("Your API description is valid")
    expect(`${linted.stdout}${linted.stderr}`).not.toContain("warning")

    const generated = yield* run(folder, [bun, "generate.mjs", file, `${folder}/programs/generated`])
    expect([generated.code, generated.stderr]).toEqual([0, ""])
    const compiled = yield* run(folder, [bun, "node_modules/typescript/bin/tsc", "--project", "programs"])
    expect([compiled.stdout, compiled.code]).toEqual(["", 0])

    const env = { SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token), SVC_REPOSITORY: server.repositoryUrl }
    // Listing the Workspaces in a person's session creates the first Workspace. With a token, listing only reads.
    yield* server.browse("/api/v1/workspaces")
    const installed = yield* run(folder, [bun, "programs/Install.ts"], env)
    expect([installed.code, installed.stderr]).toEqual([0, ""])
    expect(yield* Schema.decodeEffect(Installed)(installed.stdout)).toEqual({
      status: "succeeded",
      outputs: [["greeting", "hello"]]
    })
    const reported = yield* run(folder, [bun, "programs/Report.ts"], env)
    expect([reported.code, reported.stderr]).toEqual([0, ""])
    const { kinds, ...rest } = yield* Schema.decodeEffect(Reported)(reported.stdout)
    expect(rest).toEqual({
      product: "svc",
      capsules: ["active"],
      runs: ["apply succeeded", "compatibility_check succeeded", "plan succeeded", "source_sync succeeded"],
      lines: true,
      refused: [404, "not_found"]
    })
    expect(kinds).toContain("plan.summary")
  }).pipe(Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))
)
