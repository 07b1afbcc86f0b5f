// A program using the openapi-typescript types: installs a module, reviews its plan, applies it and reads the result.
import createClient from "openapi-fetch"
import type { paths } from "./generated/Paths.ts"

const { SVC_REPOSITORY: repository = "", SVC_TOKEN: token = "", SVC_URL: baseUrl = "" } = process.env
const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } })

const given = <A>(answer: { readonly data?: A; readonly error?: unknown }): A => {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error))
  return answer.data
}

const page = given(await client.GET("/api/v1/workspaces", { params: { query: { limit: 10 } } }))
const workspaceId = page.workspaces[0]?.id ?? ""

const key = { "idempotency-key": "install-1" }
const created = given(
  await client.POST("/api/v1/workspaces/{workspaceId}/install-plans", {
    params: { path: { workspaceId }, header: key },
    body: { source: { name: "app", url: repository }, capsule: { name: "app", environment: "test" } }
  })
)

const planned = async (installPlanId: string): Promise<{ readonly capsuleId: string; readonly planRunId: string }> => {
  for (;;) {
    const path = { installPlanId }
    const { installPlan } = given(await client.GET("/api/v1/install-plans/{installPlanId}", { params: { path } }))
    const { capsuleId, phase, planRunId } = installPlan
    if (phase === "failed") throw new Error(JSON.stringify(installPlan.diagnostics))
    if (capsuleId !== undefined && planRunId !== undefined && phase === "reviewable") return { capsuleId, planRunId }
  }
}

/** Follows a Run's frames until the last one. */
const finished = async (runId: string) => {
  const frames = await client.GET("/api/v1/runs/{runId}/events", {
    params: { path: { runId }, query: { after: 0 } },
    headers: { accept: "text/event-stream" },
    parseAs: "text"
  })
  if (!String(frames.data).includes('{"done":true}')) throw new Error("The stream ended early.")
  return given(await client.GET("/api/v1/runs/{runId}", { params: { path: { runId } } })).run
}

const { capsuleId, planRunId } = await planned(created.installPlan.id)
const { run: reviewed } = given(await client.GET("/api/v1/runs/{runId}", { params: { path: { runId: planRunId } } }))
const { planDigest } = reviewed
given(
  await client.POST("/api/v1/runs/{runId}/approve", {
    params: { path: { runId: planRunId } },
    body: planDigest === undefined ? {} : { planDigest }
  })
)
const { run } = given(
  await client.POST("/api/v1/runs/{runId}/apply", { params: { path: { runId: planRunId } }, body: {} })
)
const applied = await finished(run.id)
const { outputs } = given(await client.GET("/api/v1/capsules/{capsuleId}/outputs", { params: { path: { capsuleId } } }))
process.stdout.write(
  `${JSON.stringify({ status: applied.status, outputs: outputs.map(({ name, value }) => [name, value]) })}\n`
)
