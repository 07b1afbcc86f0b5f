import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Sources } from "../../actors/source/Sources.ts"
import { SourceId } from "../../schema/records/Ids.ts"
import { routeOf } from "./DeclaredRoute.ts"
import { pathId } from "./handlers/Commands.ts"
import { readBodyBytes } from "./RequestBody.ts"
import { SourceHooksApi } from "./SourceHooksApi.ts"

const maxDeliveryBytes = 1024 * 1024
const bearerPattern = /^bearer ([A-Za-z0-9._~+/-]{1,512}={0,2})$/i

/** The headers in which forges identify the event. A ping tests a new webhook. */
const eventHeaders = ["x-github-event", "x-gitea-event", "x-forgejo-event", "x-gogs-event"]

/**
 * `POST /hooks/sources/{sourceId}`: the raw bytes and the sender's proof go to the Source, which decides. The payload
 * itself is never interpreted: a delivery can only request a check of the repository.
 */
export const sourceHooks = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const sources = yield* Sources
    yield* router.add(
      ...routeOf(SourceHooksApi.endpoints.deliver),
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { sourceId } = yield* HttpRouter.params
        const id = yield* pathId(SourceId, sourceId ?? "", "Source")
        const body = yield* readBodyBytes(maxDeliveryBytes)
        const header = (name: string) => request.headers[name]
        const isPing = eventHeaders.some((name) => header(name)?.toLowerCase() === "ping")
        const { runIds } = yield* sources.hook(id, {
          signature256: header("x-hub-signature-256"),
          gitlabToken: header("x-gitlab-token"),
          bearer: bearerPattern.exec(header("authorization") ?? "")?.[1],
          deliveryId:
            header("x-github-delivery") ??
            header("x-gitea-delivery") ??
            header("x-forgejo-delivery") ??
            header("x-gitlab-event-uuid"),
          isPing,
          body
        })
        return HttpServerResponse.jsonUnsafe({ accepted: true, runIds }, { status: isPing ? 200 : 202 })
      })
    )
  })
)
