import { Effect, Layer, Schema, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { layerRoutes, type SvcError } from "@svc-dev/server"
import { type Deployment, Deployments } from "./Deployments.ts"

const NewDeployment = Schema.Struct({ name: Schema.String, url: Schema.String, environment: Schema.String })
const Review = Schema.Struct({ planDigest: Schema.String })

const newDeployment = HttpServerRequest.schemaBodyJson(NewDeployment)
const reviewOf = HttpServerRequest.schemaBodyJson(Review)

/** The application's own format for errors. */
const refused = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ problem: message }, { status })

const answerOf = (deployment: Deployment) =>
  HttpServerResponse.jsonUnsafe(deployment, { status: deployment.status === "deployed" ? 201 : 202 })

const ofControlPlane = (error: SvcError) =>
  Effect.succeed(error._tag === "ApiError" ? refused(error.status, error.message) : refused(502, error.message))

const malformed = () => Effect.succeed(refused(400, "The body is not what this route takes."))

const deploy = Effect.gen(function* () {
  const deployments = yield* Deployments
  return answerOf(yield* deployments.deploy(yield* newDeployment))
}).pipe(
  Effect.catchTags({
    InstallFailed: ({ message }) => Effect.succeed(refused(422, message)),
    RunFailed: ({ message, run }) => Effect.succeed(refused(422, `${run.id}: ${message}`)),
    ApiError: ofControlPlane,
    TransportFailed: ofControlPlane,
    SchemaError: malformed,
    HttpServerError: malformed
  })
)

const review = Effect.gen(function* () {
  const deployments = yield* Deployments
  const { runId = "" } = yield* HttpRouter.params
  const { planDigest } = yield* reviewOf
  return answerOf(yield* deployments.approve(runId, planDigest))
}).pipe(
  Effect.catchTags({
    RunFailed: ({ message, run }) => Effect.succeed(refused(422, `${run.id}: ${message}`)),
    ApiError: ofControlPlane,
    TransportFailed: ofControlPlane,
    SchemaError: malformed,
    HttpServerError: malformed
  })
)

const encoder = new TextEncoder()

/** Streams the events of a Run as the application's own server-sent events. A browser resumes with `Last-Event-ID`. */
const events = Effect.gen(function* () {
  const deployments = yield* Deployments
  const { runId = "" } = yield* HttpRouter.params
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const after = Number(headers["last-event-id"] ?? "0")
  const frames = deployments
    .follow(runId, Number.isSafeInteger(after) ? after : 0)
    .pipe(
      Stream.map(({ data, kind, seq }) =>
        encoder.encode(`id: ${seq}\nevent: ${kind}\ndata: ${JSON.stringify(data)}\n\n`)
      )
    )
  return HttpServerResponse.stream(frames, { contentType: "text/event-stream" })
})

/** The routes of the application, and the control plane's API below `/svc` for its own clients. */
export const application = Layer.mergeAll(
  HttpRouter.add("POST", "/deployments", deploy),
  HttpRouter.add("POST", "/deployments/:runId/review", review),
  HttpRouter.add("GET", "/deployments/:runId/events", events),
  layerRoutes({ prefix: "/svc" })
)
