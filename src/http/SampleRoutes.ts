import { Effect, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { samplePath } from "../../runner/git/SampleModule.ts"
import { arrivingBody } from "../http-kit/RequestBody.ts"

/** Maximum size of a request, which lists only a few objects. */
const mostRequestBytes = 64 * 1024

const answer = (target: string) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const isV2 = (request.headers["git-protocol"] ?? "").split(":").includes("version=2")
    const parts = request.method === "POST" ? yield* Stream.runCollect(arrivingBody(mostRequestBytes)) : []
    // Load the repository on the first request, because few servers ever receive a request for it.
    const { answerSample } = yield* Effect.promise(() => import("../../runner/git/SampleRepository.ts"))
    const found = yield* Effect.promise(() =>
      answerSample({ method: request.method, target, isV2, body: Buffer.concat(parts) })
    )
    return HttpServerResponse.uint8Array(found.body, {
      status: found.status,
      contentType: found.contentType,
      headers: { "cache-control": "no-store" }
    })
  })

/** Serves the built-in sample repository, read-only, to everybody who can reach the server. */
export const sampleRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    yield* router.add("GET", `${samplePath}/info/refs`, answer("info/refs?service=git-upload-pack"))
    yield* router.add("POST", `${samplePath}/git-upload-pack`, answer("git-upload-pack"))
  })
)
