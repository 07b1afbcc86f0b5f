import { Context, Effect, Layer, Stream } from "effect"
import {
  type Actor,
  Capsules,
  type InstallFailed,
  InstallPlans,
  type RunEvent,
  type RunFailed,
  Runs,
  type SvcError,
  Workspaces
} from "@svc-dev/server"
import { needsReview } from "./Policy.ts"

export interface NewDeployment {
  readonly name: string
  /** Git URL of a repository with one module at its root. */
  readonly url: string
  readonly environment: string
}

/** The result of a deployment: it was applied, or it waits for a person. */
export type Deployment =
  | { readonly status: "deployed"; readonly runId: string; readonly outputs: Readonly<Record<string, unknown>> }
  | { readonly status: "needs_review"; readonly runId: string; readonly because: string }

export interface DeploymentsShape {
  readonly deploy: (request: NewDeployment) => Effect.Effect<Deployment, SvcError | InstallFailed | RunFailed>
  /** Approves the plan with this digest, which a person has reviewed. */
  readonly approve: (runId: string, planDigest: string) => Effect.Effect<Deployment, SvcError | RunFailed>
  /** Streams the events of a Run. `after` is the last event that the reader has received. */
  readonly follow: (runId: string, after: number) => Stream.Stream<RunEvent, SvcError>
}

const report = (event: RunEvent) => {
  switch (event.kind) {
    case "run.phase":
      return Effect.logInfo(`phase ${event.data.phase}`)
    case "resource.completed":
      return Effect.logInfo(`${event.data.action} ${event.data.address}`)
    case "run.failed":
      return Effect.logError(event.data.error.message)
    default:
      return Effect.void
  }
}

/** The application's own deployments, implemented with the services of the control plane on behalf of its actor. */
export class Deployments extends Context.Service<Deployments, DeploymentsShape>()("example/Deployments") {
  static readonly layer = Layer.effect(
    Deployments,
    Effect.gen(function* () {
      const actor = yield* Effect.context<Actor>()
      const capsules = yield* Capsules
      const installs = yield* InstallPlans
      const runs = yield* Runs
      const workspaces = yield* Workspaces
      const { items } = yield* workspaces.page({ limit: 1 })
      const workspace = items[0] ?? (yield* Effect.die(new Error("The account has no Workspace.")))

      const applied = Effect.fn("Deployments.applied")(function* (planId: string) {
        // With this key, a second request for the same plan returns the same Apply Run.
        const apply = yield* runs.apply(planId, { idempotencyKey: `apply-${planId}` })
        yield* Stream.runForEach(runs.events(apply.id), report)
        const { capsuleId, id } = yield* runs.waitFor(apply.id)
        const outputs = capsuleId === undefined ? {} : yield* capsules.outputs(capsuleId)
        const values = Object.entries(outputs).map(([name, { value }]) => [name, value])
        return { status: "deployed", runId: id, outputs: Object.fromEntries(values) } as const
      })

      const deploy = Effect.fn("Deployments.deploy")(function* (request: NewDeployment) {
        const { environment, name, url } = request
        const install = yield* installs.create(workspace.id, {
          source: { name, url },
          capsule: { name, environment }
        })
        const plan = yield* installs.waitFor(install.id)
        const because = needsReview(plan)
        if (because !== undefined) return { status: "needs_review", runId: plan.id, because } as const
        // Approves exactly the plan that the policy has judged. Fails for any other plan.
        yield* runs.approve(plan, { comment: "Routine by the policy of the application." })
        return yield* applied(plan.id)
      })

      return Deployments.of({
        deploy: (request) => Effect.provideContext(deploy(request), actor),
        approve: (runId, planDigest) =>
          runs.get(runId).pipe(
            Effect.flatMap((plan) => runs.approve({ ...plan, planDigest })),
            Effect.andThen(applied(runId)),
            Effect.provideContext(actor)
          ),
        follow: (runId, after) => Stream.provideContext(runs.events(runId, { after }), actor)
      })
    })
  )
}
