import { Context, Effect, Layer, Option, Schedule, Schema, Stream } from "effect"
import { AccessTokens, HttpListener, layer, loadSettings, logging, serviceContext, Users } from "svc"
import { followEvents, SvcClient } from "svc/client"

/** The install did not reach a reviewable plan. */
export class InstallFailed extends Schema.TaggedError<InstallFailed>()("InstallFailed", { message: Schema.String }) {}

export interface InstallRequest {
  /** Git address of a repository with one module. */
  readonly url: string
  /** Where the control plane keeps its data. */
  readonly dataDir: string
  /** Called for each event of each Run, as it happens. */
  readonly onEvent: (run: string, event: string) => Effect.Effect<void>
  /** Origins that may use plain http or a private address, for your own repositories. */
  readonly allowOrigins?: string | undefined
}

/** An account for this program, as `svc admin` would create one, with a token for the typed client. */
const signIn = Effect.fn("signIn")(function* () {
  const users = yield* Users
  const tokens = yield* AccessTokens
  const { subject } = yield* users.create(serviceContext, { email: "robot@example.com", isOperator: true })
  const { secret } = yield* tokens.create(serviceContext, subject, { name: "embedded", scopes: ["read", "write"] })
  return secret
})

const install = Effect.fn("install")(function* (
  options: { readonly baseUrl: string; readonly token: Effect.Success<ReturnType<typeof signIn>> },
  request: InstallRequest
) {
  const client = yield* SvcClient
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const [workspace] = workspaces
  if (workspace === undefined) return yield* new InstallFailed({ message: "The account has no Workspace." })

  const { installPlan } = yield* client.installPlans.create({
    params: { workspaceId: workspace.id },
    headers: { "idempotency-key": "embedded-example" },
    payload: {
      source: { name: "example", url: request.url },
      capsule: { name: "example", environment: "production" },
      variables: {}
    }
  })
  // The coordinator advances automatically: source, scan, Capsule, plan. It stops where a person has to review.
  const planned = yield* Effect.repeat(
    Effect.map(client.installPlans.read({ params: { installPlanId: installPlan.id } }), (read) => read.installPlan),
    {
      until: ({ phase, planRunId }) => phase === "failed" || planRunId !== undefined,
      schedule: Schedule.spaced("100 millis")
    }
  )
  const { capsuleId, planRunId } = planned
  if (planRunId === undefined || capsuleId === undefined)
    return yield* new InstallFailed({ message: `The install failed: ${JSON.stringify(planned.diagnostics)}` })

  const follow = (runId: string) =>
    followEvents(options, runId).pipe(
      Stream.tap(({ kind }) => request.onEvent(runId, kind)),
      Stream.takeUntil(({ kind }) => kind === "run.waiting_approval"),
      Stream.runDrain
    )

  yield* follow(planRunId)
  const { run: plan } = yield* client.runs.read({ params: { runId: planRunId } })
  if (plan.status !== "waiting_approval" || plan.planDigest === undefined)
    return yield* new InstallFailed({ message: `The plan ended as ${plan.status}: ${plan.error?.message ?? ""}` })

  // Here a person reviews `plan.resourceChanges`. The digest binds the approval to exactly that plan.
  yield* client.runs.approve({ params: { runId: planRunId }, payload: { planDigest: plan.planDigest } })
  const { run } = yield* client.runs.apply({
    params: { runId: planRunId },
    headers: { "idempotency-key": `apply-${planRunId}` },
    payload: {}
  })
  yield* follow(run.id)

  const { outputs } = yield* client.capsules.outputs({ params: { capsuleId } })
  const { capsule } = yield* client.capsules.read({ params: { capsuleId } })
  return { status: capsule.status, outputs: Object.fromEntries(outputs.map(({ name, value }) => [name, value])) }
})

/** Starts a control plane inside this process, installs a Capsule from Git, applies it and returns its Outputs. */
export const installEmbedded = Effect.fn("installEmbedded")(function* (request: InstallRequest) {
  const settings = yield* loadSettings(
    new Map([
      ["dataDir", request.dataDir],
      ["listen", "127.0.0.1:0"],
      ["gitAllowOrigins", request.allowOrigins ?? ""]
    ]),
    Option.none()
  )
  const logs = logging({ level: "warn", format: "pretty" })
  const services = yield* Layer.build(layer({ settings }).pipe(Layer.provideMerge(logs)))
  const baseUrl = Context.get(services, HttpListener).url
  const token = yield* Effect.provideContext(signIn(), services)
  return yield* Effect.provide(install({ baseUrl, token }, request), SvcClient.layer({ baseUrl, token }))
}, Effect.scoped)
