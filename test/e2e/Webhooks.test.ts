import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { it } from "../support/Effect.ts"
import { eventually } from "../support/Eventually.ts"
import { hostedServer, personPassword, publicOrigin } from "./support/HostedServer.ts"
import { services } from "./support/NetworkShell.ts"
import { shellOf } from "./support/Shell.ts"

setDefaultTimeout(120_000)

const page = readFileSync(new URL("../../docs/webhooks/plain.md", import.meta.url), "utf8")
const lines = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, block = ""]) => block.trim().split("\n"))
const isUnfit =
  ["bash", "curl", "jq", "openssl"].some((program) => Bun.which(program) === null) &&
  process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

/** Creates a Source through an install. Nobody has seen the Source's webhook secret. */
const installed = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const server = yield* hostedServer({ "main.tf": "" })
  const { workspace } = yield* server.client.workspaces.create({ payload: { handle: "acme", displayName: "Acme" } })
  yield* server.client.installPlans.create({
    params: { workspaceId: workspace.id },
    headers: { "idempotency-key": "install-one" },
    payload: {
      source: { name: "network", url: server.repositoryUrl },
      capsule: { name: "network", environment: "test" }
    }
  })
  const listed = yield* eventually(
    server.client.sources.list({ query: { workspaceId: workspace.id } }),
    ({ sources }) => sources.length === 1
  )
  const sourceId = listed.sources[0]?.id ?? (yield* Effect.die("no Source"))
  yield* server.client.sources.update({ params: { sourceId }, payload: { autoSync: true } })
  const shell = yield* shellOf({ SVC_URL: server.url, SVC_TOKEN: Redacted.value(server.token), SVC_WORKSPACE: "acme" })
  yield* files.writeFileString(`${shell.home}/password.txt`, `${personPassword}\n`)
  /** Links contain the public address, where no server listens in this test. */
  const run = (line: string) =>
    shell.run(line.replaceAll("jq -r .url hook.json", `jq -r .url hook.json | sed 's#${publicOrigin}#${server.url}#'`))
  return { run, server, sourceId, shell, workspace }
})

describe.skipIf(isUnfit)("Webhook secrets", () => {
  it.live("the steps in docs/webhooks/plain.md get the secret in the terminal and start checks", () =>
    Effect.gen(function* () {
      const { run, server, shell, sourceId, workspace } = yield* installed
      const answers: Array<string> = []
      for (const line of lines) {
        const { code, error, out } = yield* run(line)
        expect([line, code, error]).toEqual([
          line,
          0,
          line.startsWith("svc ")
            ? expect.stringContaining("remains valid until the Git server uses the new secret")
            : ""
        ])
        if (out !== "") answers.push(out)
      }
      expect(answers.map((answer) => JSON.parse(answer))).toEqual([
        { accepted: true, runIds: [expect.stringMatching(/^run_/)] },
        { accepted: true, runIds: [expect.stringMatching(/^run_/)] }
      ])

      const files = yield* FileSystem.FileSystem
      const made = JSON.parse(yield* files.readFileString(`${shell.home}/hook.json`))
      expect(made).toEqual({
        sourceId,
        url: `${publicOrigin}/hooks/sources/${sourceId}`,
        hookSecret: expect.stringMatching(/^[\w-]{43}$/),
        signingToken: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/)
      })
      // Other Standard Webhooks implementations decode the token as plain Base64.
      const key = Buffer.from(made.signingToken.slice("whsec_".length), "base64")
      const signature = createHmac("sha256", key).update("msg_1.1790000000.{}").digest("base64")
      const signed = yield* Effect.promise(() =>
        fetch(`${server.url}/hooks/sources/${sourceId}`, {
          method: "POST",
          body: "{}",
          headers: {
            "content-type": "application/json",
            "webhook-id": "msg_1",
            "webhook-timestamp": "1790000000",
            "webhook-signature": `v1,${signature}`
          }
        })
      )
      expect(signed.status).toBe(202)

      const { events } = yield* server.client.workspaces.activity({
        params: { workspaceId: workspace.id },
        query: { action: "source.hook_secret.renew" }
      })
      expect(events.map(({ data, target }) => [target.id, data])).toEqual([
        [sourceId, { version: 2, endFormerNow: false }]
      ])
      expect(JSON.stringify(events)).not.toContain(made.hookSecret)
    }).pipe(Effect.provide(services))
  )

  it.live("a wrong password does not change a webhook secret", () =>
    Effect.gen(function* () {
      const { run, server, sourceId } = yield* installed
      const wrong = yield* run("echo not the password | svc source hook-secret network --password-stdin --json")
      expect([wrong.code, wrong.out]).toEqual([4, ""])
      const { source } = yield* server.client.sources.read({ params: { sourceId } })
      expect(source.hookSecretVersion).toBe(1)
    }).pipe(Effect.provide(services))
  )
})
