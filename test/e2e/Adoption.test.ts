import { describe, expect, setDefaultTimeout } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ConfigProvider, Effect, FileSystem, Layer, Redacted, Schema } from "effect"
import { TestConsole } from "effect/testing"
import { CapsuleId, RunId } from "../../schema/records/Ids.ts"
import { mostStateBytes } from "../../schema/records/StateUploadLimits.ts"
import { teardown } from "../../src/cli/CommandLine.ts"
import { run } from "../../src/cli/Run.ts"
import { platform } from "../../src/composition/Platform.ts"
import { FetchHttpClient } from "effect/http"
import { appliedOutside, writtenState } from "../actors/support/OutsideState.ts"
import { it } from "../support/Effect.ts"
import { hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(180_000)

const page = readFileSync(join(import.meta.dir, "../../docs/adoption.md"), "utf8")

/** Returns the first example on the page in this language. */
const example = (language: string): string =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)\\n\`\`\`$`, "m").exec(page)?.[1] ?? ""

const Adopted = Schema.fromJsonString(Schema.Struct({ capsuleId: CapsuleId, planRunId: RunId, status: Schema.String }))

describe.skipIf(Bun.which("terraform") === null)("State adoption", () => {
  it.live("svc adopt takes over the documented state, and explains why another state is not eligible", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-adopt-" })
      const module = example("hcl")
      const server = yield* hostedServer({ "network/main.tf": module })
      const { workspace } = yield* server.client.workspaces.create({
        payload: { handle: "acme", displayName: "Acme" }
      })
      const write = (name: string, bytes: Uint8Array) =>
        Effect.as(files.writeFile(join(folder, name), bytes), join(folder, name))
      const state = yield* write("terraform.tfstate", yield* appliedOutside({ "main.tf": module }, { region: "north" }))
      const values = yield* write("values.json", new TextEncoder().encode(example("json")))
      const environment = ConfigProvider.layer(
        ConfigProvider.fromEnvRecord({
          HOME: folder,
          SVC_URL: server.url,
          SVC_TOKEN: Redacted.value(server.token)
        })
      )
      const svc = (...args: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const exit = yield* Effect.exit(run(args))
          return {
            code: yield* Effect.callback<number>((resume) =>
              teardown(args)(exit, (code) => resume(Effect.succeed(code)))
            ),
            out: (yield* TestConsole.logLines).join("\n"),
            error: (yield* TestConsole.errorLines).join("\n")
          }
        }).pipe(Effect.provide(Layer.mergeAll(environment, TestConsole.layer)))

      // The page's command, with the repository and files of this test.
      const [, command = ""] = example("sh").split("\n")
      const places = new Map([
        ["terraform.tfstate", state],
        ["values.json", values],
        ["https://git.example.com/infra.git", server.repositoryUrl]
      ])
      const args = command
        .split(" ")
        .slice(1)
        .map((word) => places.get(word) ?? word)
      const adopted = yield* svc(...args)
      // The plan is waiting for approval.
      expect([adopted.code, adopted.error]).toEqual([3, expect.stringMatching(/^plan run_[a-z0-9]+$/)])
      for (const line of example("text").split("\n")) expect(adopted.out).toContain(line)
      expect(adopted.out).toContain(`Review and apply: ${server.url}/w/acme/runs/run_`)

      // The server refuses the second upload, because it already manages a state with this lineage.
      const again = yield* svc(...args, "--json")
      expect([again.code, again.error]).toEqual([6, expect.stringContaining('"code":"state_lineage_known"')])
      const other = yield* write(
        "other.tfstate",
        writtenState({ lineage: "other", resources: [{ type: "terraform_data", name: "gone", id: "1" }] })
      )
      const named = args.map((word, at) => (args[at - 1] === "--name" ? "second" : word === state ? other : word))
      const refused = yield* svc(...named)
      expect([refused.code, refused.error]).toEqual([
        1,
        expect.stringContaining("terraform_data.gone. Add a moved or removed block")
      ])
      const confirmed = yield* svc(...named, "--undeclared", "terraform_data.gone", "--json")
      const second = yield* Schema.decodeEffect(Adopted)(confirmed.out)
      expect([confirmed.code, second.status]).toEqual([3, "waiting_approval"])

      // The route rejects a file that exceeds its limits.
      const path = `${server.url}/api/v1/workspaces/${workspace.id}/state-uploads`
      const post = (body: BodyInit, type: string) =>
        Effect.promise(async () => {
          const response = await fetch(path, {
            method: "POST",
            headers: {
              authorization: `Bearer ${Redacted.value(server.token)}`,
              "content-type": type,
              "idempotency-key": crypto.randomUUID()
            },
            body
          })
          return [response.status, await response.text()] as const
        })
      const file = "application/octet-stream"
      expect((yield* post("{}", "application/json"))[0]).toBe(415)
      expect((yield* post(new Uint8Array(mostStateBytes + 1), file))[0]).toBe(413)
      const [status, text] = yield* post('{"version":4,"secret":"canary-unreadable"', file)
      expect([status, text.includes("state_unreadable"), text.includes("canary")]).toEqual([400, true, false])
    }).pipe(Effect.provide(Layer.mergeAll(platform, FetchHttpClient.layer)))
  )
})
