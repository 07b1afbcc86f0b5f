import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { platform } from "../../src/composition/Platform.ts"
import { eventually } from "../support/Eventually.ts"
import { it } from "../support/Effect.ts"
import { appOrigin, hostedServer } from "./support/HostedServer.ts"

setDefaultTimeout(120_000)

const names = ["accounts_url", "issuer_url", "client_id", "redirect_uri"]

const repository = {
  "main.tf": `
    ${["url", ...names].map((name) => `variable "${name}" { type = string }`).join("\n")}
    resource "terraform_data" "app" { input = var.client_id }
    output "client" { value = terraform_data.app.output }`,
  ".well-known/svc.json": JSON.stringify({
    apiVersion: "svc.com/v2.4",
    kind: "Repository",
    install: {
      modules: {
        ".": {
          inputs: [],
          requires: [
            { kind: "http.endpoint", deliver: { variables: { url: "url" } } },
            {
              kind: "identity.oidc",
              callbackPath: "/auth/callback",
              scopes: ["openid"],
              deliver: {
                variables: {
                  accountsUrl: "accounts_url",
                  issuerUrl: "issuer_url",
                  clientId: "client_id",
                  redirectUri: "redirect_uri"
                }
              }
            }
          ]
        }
      }
    }
  })
}

describe.skipIf(Bun.which("terraform") === null)("Legacy activations", () => {
  it.live("a Capsule's client has no authority until an apply has stored its activation digest", () =>
    Effect.gen(function* () {
      const { browse, client, repositoryUrl, sql } = yield* hostedServer(repository)
      const { workspace } = yield* client.workspaces.create({ payload: { handle: "acme" } })
      const { installPlan } = yield* client.installPlans.create({
        params: { workspaceId: workspace.id },
        headers: { "idempotency-key": "install" },
        payload: { source: { name: "app", url: repositoryUrl }, capsule: { name: "app", environment: "test" } }
      })
      const { installPlan: reviewable } = yield* eventually(
        client.installPlans.read({ params: { installPlanId: installPlan.id } }),
        ({ installPlan: { nextAction } }) => nextAction !== "reconcile"
      )
      const { capsuleId, planRunId } = reviewable
      if (capsuleId === undefined || planRunId === undefined) {
        return yield* Effect.die(new Error(JSON.stringify(reviewable.diagnostics)))
      }
      const ended = (runId: string) =>
        Effect.map(
          eventually(client.runs.read({ params: { runId } }), ({ run }) => !["queued", "running"].includes(run.status)),
          ({ run }) => run
        )
      const applied = Effect.fnUntraced(function* (runId: string) {
        const plan = yield* ended(runId)
        expect([plan.status, plan.error]).toEqual(["waiting_approval", undefined])
        yield* client.runs.approve({ params: { runId }, payload: {} })
        const { run } = yield* client.runs.apply({ params: { runId }, headers: {}, payload: {} })
        expect((yield* ended(run.id)).status).toBe("succeeded")
      })
      yield* applied(planRunId)
      const { outputs } = yield* client.capsules.outputs({ params: { capsuleId } })
      const clientId = String(outputs[0]?.value)
      const authorize = browse(
        `/oauth/authorize?${new URLSearchParams({
          client_id: clientId,
          redirect_uri: `${appOrigin}/auth/callback`,
          response_type: "code",
          scope: "openid",
          code_challenge: "a".repeat(43),
          code_challenge_method: "S256"
        })}`
      )
      // The client has authority, so the consent page is shown.
      expect((yield* authorize).status).toBe(200)
      const digest = sql`SELECT activation_digest, status FROM oidc_capsule_clients WHERE client_id = ${clientId}`
      const [stored] = yield* digest
      expect(stored?.activation_digest).not.toBeNull()

      yield* sql`UPDATE oidc_capsule_clients SET activation_digest = NULL`.pipe(sql.withTransaction)
      const stale = yield* authorize
      const location = new URL(stale.headers.get("location") ?? "")
      expect([stale.status, location.searchParams.get("error"), location.searchParams.has("code")]).toEqual([
        303,
        "access_denied",
        false
      ])

      const { run } = yield* client.capsules.plan({ params: { capsuleId }, headers: {}, payload: {} })
      yield* applied(run.id)
      expect((yield* digest)[0]).toEqual(stored ?? {})
      expect((yield* authorize).status).toBe(200)
    }).pipe(Effect.provide(Layer.mergeAll(FetchHttpClient.layer, platform)))
  )
})
