import { Effect, Redacted, Result, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FsClient } from "isomorphic-git"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as nodeFs from "node:fs"
import { createServer } from "node:http"
import { gunzipSync } from "node:zlib"
import { answerUploadPack, maxRequestBytes, type ServedObjects } from "../../../runner/git/UploadPack.ts"

/** A repository that is served while the Scope is open. */
export interface ServedRepository {
  /** Address to enter as the Git URL of a Source, such as `http://127.0.0.1:40123/repository.git`. */
  readonly url: string
  /** Origin to add to `GitPolicy.allowOrigins`, because svc refuses loopback HTTP by default. */
  readonly origin: string
}

export interface ServeOptions {
  readonly gitdir: string
  /** File system that contains `gitdir`. Defaults to the disk. */
  readonly fs?: FsClient
  /** Loopback port. Defaults to 0, which selects a free port. */
  readonly port?: number
  /** If set, the server accepts only requests with exactly this `Authorization` header. */
  readonly authorization?: Redacted.Redacted<string>
  /** If true, the server refuses objects to which no ref points, as some servers do. Defaults to false. */
  readonly onlyListed?: boolean
  /** If true, the server uses protocol v2 if the client requests it. Defaults to true. */
  readonly protocolV2?: boolean
}

const host = "127.0.0.1"
const repositoryPath = "/repository.git"

/** Reads a body and decompresses it if necessary, because clients compress requests that list many objects. */
const readBody = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const raw = new Uint8Array(yield* request.arrayBuffer)
  return request.headers["content-encoding"] === "gzip"
    ? yield* Effect.try(() => gunzipSync(raw, { maxOutputLength: maxRequestBytes }))
    : raw
})

const answer = Effect.fnUntraced(function* (repository: ServedObjects, options: ServeOptions) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const expected = options.authorization
  if (expected !== undefined && request.headers["authorization"] !== Redacted.value(expected))
    return HttpServerResponse.text("Sign in to read this repository.\n", {
      status: 401,
      headers: { "www-authenticate": 'Basic realm="git"' }
    })
  const isV2 = (options.protocolV2 ?? true) && (request.headers["git-protocol"] ?? "").split(":").includes("version=2")
  const body = request.method === "POST" ? yield* Effect.result(readBody(request)) : Result.succeed(new Uint8Array())
  if (Result.isFailure(body)) return HttpServerResponse.text("The request could not be read.\n", { status: 400 })
  const target = request.url.startsWith(`${repositoryPath}/`) ? request.url.slice(repositoryPath.length + 1) : ""
  const found = yield* Effect.promise(() =>
    answerUploadPack(repository, { method: request.method, target, isV2, body: body.success })
  )
  return HttpServerResponse.uint8Array(found.body, {
    status: found.status,
    contentType: found.contentType,
    headers: { "cache-control": "no-store" }
  })
})

/**
 * Serves a repository read-only over loopback HTTP, without native git. Supports Git's smart protocol v0, v1 and v2 with
 * complete or shallow packs. Dies if the port cannot be opened.
 */
export const serveRepository = Effect.fn("serveRepository")(function* (
  options: ServeOptions
): Effect.fn.Return<ServedRepository, never, Scope.Scope> {
  const repository: ServedObjects = {
    fs: options.fs ?? nodeFs,
    gitdir: options.gitdir,
    onlyListed: options.onlyListed ?? false
  }
  const server = yield* NodeHttpServer.make(() => createServer(), {
    host,
    port: options.port ?? 0,
    gracefulShutdownTimeout: "100 millis"
  }).pipe(Effect.orDie)
  yield* server.serve(answer(repository, options))
  const port = "port" in server.address ? server.address.port : 0
  const origin = `http://${host}:${port}`
  return { url: `${origin}${repositoryPath}`, origin }
})
