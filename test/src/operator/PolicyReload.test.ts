import { describe, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, FileSystem, Redacted } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { makeClient } from "../../../src/client/index.ts"
import { eventually } from "../../support/Eventually.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

setDefaultTimeout(60_000)

const main = `
  variable "region" { type = string }
  output "region" { value = var.region }
`

describe.skipIf(Bun.which("terraform") === null)("Policy reload", () => {
  live("a policy reload voids plans of changed modules, and rereads all predefined configurations", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const at = yield* folder
      const gitdir = `${at}/repository.git`
      yield* createRepository({ gitdir })
      yield* commitFiles({ gitdir, files: { "main.tf": main } })
      const repository = yield* serveRepository({ gitdir })
      const policyFile = `${at}/policy.json`
      const decide = (region: string) =>
        files.writeFileString(
          policyFile,
          JSON.stringify({ baseConfigs: [{ name: "EU", origin: repository.origin, variables: { region } }] })
        )
      yield* decide("eu-1")
      const dataDir = `${at}/data`
      const { services, url } = yield* serve(
        dataDir,
        new Map([
          ["policyFile", policyFile],
          ["gitAllowOrigins", repository.origin]
        ])
      )
      const clientOf = Effect.fnUntraced(function* (email: string) {
        const user = yield* Context.get(services, Users).create(serviceContext, { email, isOperator: false })
        const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, user.subject, {
          name: "test",
          scopes: ["read", "write"]
        })
        const client = yield* makeClient({ baseUrl: url, token: secret })
        const [workspace] = (yield* client.workspaces.list({ query: {} })).workspaces
        return {
          client,
          token: Redacted.value(secret),
          workspaceId: workspace?.id ?? (yield* Effect.die("no Workspace"))
        }
      })
      const ada = yield* clientOf("ada@example.com")
      const grace = yield* clientOf("grace@example.com")
      const query = { workspaceId: ada.workspaceId }

      const [listed] = (yield* ada.client.capsules.configs({ query })).capsuleConfigs
      const params = { capsuleConfigId: listed?.id ?? "" }
      expect(listed).toMatchObject({ origin: "operator", operator: { name: "EU", variables: ["region"] } })
      expect((yield* ada.client.capsules.config({ params })).capsuleConfig).toEqual(
        listed ?? (yield* Effect.die("none"))
      )
      // svc refuses other people, reports an unknown configuration id as not found, and lets nobody change the
      // configuration.
      expect(yield* Effect.flip(grace.client.capsules.config({ params }))).toMatchObject({ code: "permission_denied" })
      const unknown = { capsuleConfigId: `icfg_${"a".repeat(24)}` }
      for (const { client } of [ada, grace]) {
        expect(yield* Effect.flip(client.capsules.config({ params: unknown }))).toMatchObject({ code: "not_found" })
      }
      const patched = yield* Effect.promise(() =>
        fetch(`${url}/api/v1/capsule-configs/${params.capsuleConfigId}`, {
          method: "PATCH",
          headers: { authorization: `Bearer ${ada.token}` }
        })
      )
      expect([patched.status, patched.headers.get("allow")]).toEqual([405, "GET"])

      const { installPlan } = yield* ada.client.installPlans.create({
        params: query,
        headers: { "idempotency-key": "install" },
        payload: {
          source: { name: "eu", url: repository.url },
          capsule: { name: "eu", environment: "test" }
        }
      })
      const { installPlan: reviewable } = yield* eventually(
        ada.client.installPlans.read({ params: { installPlanId: installPlan.id } }),
        ({ installPlan: { nextAction } }) => nextAction !== "reconcile"
      )
      const planRunId = reviewable.planRunId ?? (yield* Effect.die(JSON.stringify(reviewable.diagnostics)))
      const status = Effect.map(ada.client.runs.read({ params: { runId: planRunId } }), ({ run }) => run.status)

      const reload = Effect.map(svc(["admin", "reload", "--data-dir", dataDir, "--json"]), ({ out }) => JSON.parse(out))
      expect(yield* reload).toMatchObject({ changed: [], supersededPlans: 0 })
      expect(yield* status).toBe("waiting_approval")
      yield* decide("eu-2")
      expect(yield* reload).toMatchObject({ changed: ["baseConfigs"], supersededPlans: 1 })
      const { run } = yield* ada.client.runs.read({ params: { runId: planRunId } })
      expect(run).toMatchObject({ status: "superseded" })
      expect(yield* Effect.flip(ada.client.runs.approve({ params: { runId: planRunId }, payload: {} }))).toMatchObject({
        code: "failed_precondition"
      })
      // The configuration from the previous policy can no longer be read.
      expect(yield* Effect.flip(ada.client.capsules.config({ params }))).toMatchObject({ code: "not_found" })
    })
  )
})
