import { join } from "node:path"
import { Effect, FileSystem, Redacted } from "effect"
import { StateReceipt } from "../../../actors/commands/adoption/StateReceipt.ts"
import { requestDigest } from "../../../actors/base/idempotency/RequestDigest.ts"
import type { CommitFiles } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { temporaryFolder } from "../../support/ControlPlane.ts"
import { freshKey } from "../../support/Journey.ts"
import { TestPlane } from "../../support/TestPlane.ts"

const run = (folder: string, ...args: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const child = Bun.spawn(["terraform", ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, TF_IN_AUTOMATION: "1", CHECKPOINT_DISABLE: "1" },
      stdout: "pipe",
      stderr: "pipe"
    })
    const [code, text] = await Promise.all([child.exited, new Response(child.stderr).text()])
    if (code !== 0) throw new Error(`terraform ${args[0]}: ${text}`)
  })

/** Applies a module with the tool alone, as a person who does not use svc yet would, and returns the state file. */
export const appliedOutside = Effect.fnUntraced(function* (
  files: CommitFiles,
  variables: Readonly<Record<string, string>> = {}
) {
  const folder = yield* temporaryFolder
  const system = yield* FileSystem.FileSystem
  for (const [name, content] of Object.entries(files)) {
    yield* system.makeDirectory(join(folder, name, ".."), { recursive: true })
    yield* system.writeFile(
      join(folder, name),
      typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array()
    )
  }
  yield* run(folder, "init", "-input=false")
  const given = Object.entries(variables).map(([name, value]) => `-var=${name}=${value}`)
  yield* run(folder, "apply", "-input=false", "-auto-approve", ...given)
  return yield* system.readFile(join(folder, "terraform.tfstate"))
})

/** Uploads a state into the test's Workspace. */
export const uploaded = Effect.fnUntraced(function* (bytes: Uint8Array, key = freshKey(requestDigest([bytes.length]))) {
  const { context, workspaceId } = yield* TestPlane
  return (yield* (yield* StateReceipt).receive(context, workspaceId, Redacted.make(bytes), key)).value
})

/** Builds a version 4 state with these resources. Each resource has one instance by default. */
export const writtenState = (more: {
  readonly lineage: string
  readonly serial?: number
  readonly version?: string
  readonly resources?: ReadonlyArray<{
    readonly type: string
    readonly name: string
    readonly id: string
    readonly provider?: string
    readonly module?: string
  }>
}) =>
  new TextEncoder().encode(
    JSON.stringify({
      version: 4,
      terraform_version: more.version ?? "1.0.0",
      serial: more.serial ?? 1,
      lineage: more.lineage,
      outputs: {},
      resources: (more.resources ?? []).map(({ id, module, name, provider, type }) => ({
        ...(module === undefined ? {} : { module }),
        mode: "managed",
        type,
        name,
        provider: `provider["${provider ?? "terraform.io/builtin/terraform"}"]`,
        instances: [{ schema_version: 0, attributes: { id }, sensitive_attributes: [] }]
      }))
    })
  )
