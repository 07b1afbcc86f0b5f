import { Effect, Redacted, Result, type Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { FsClient } from "isomorphic-git"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as nodeFs from "node:fs"
import { createServer } from "node:http"
import { gunzipSync } from "node:zlib"
import { type Packet, parsePackets } from "../../../../runner/git/PktLine.ts"
import { advertiseV1, advertiseV2, type ServedObjects, uploadPackV1, uploadPackV2 } from "./UploadPack.ts"

/** A repository that is served while the Scope is open. */
export interface ServedRepository {
  /** The address to enter as the Git URL of a Source, such as `http://127.0.0.1:40123/repository.git`. */
  readonly url: string
  /** The origin to add to `GitPolicy.allowOrigins`, because loopback HTTP is refused by default. */
  readonly origin: string
}

export interface ServeOptions {
  readonly gitdir: string
  /** The file system that contains `gitdir`; on disk by default. */
  readonly fs?: FsClient
  /** Loopback port; defaults to 0, any free port. */
  readonly port?: number
  /** If set, only requests with exactly this `Authorization` header are accepted. */
  readonly authorization?: Redacted.Redacted<string>
  /** Refuses to serve objects that no ref points to, as some servers do. The default is false. */
  readonly onlyListed?: boolean
  /** Uses protocol v2 if the client requests it. The default is true. */
  readonly protocolV2?: boolean
}

const host = "127.0.0.1"
const repositoryPath = "/repository.git"
const maxRequestBytes = 1024 * 1024

const bytes = (body: Uint8Array, kind: "advertisement" | "result") =>
  HttpServerResponse.uint8Array(body, {
    contentType: `application/x-git-upload-pack-${kind}`,
    headers: { "cache-control": "no-store" }
  })

const refuse = (status: number, message: string) => HttpServerResponse.text(`${message}\n`, { status })

/** Clients compress requests that list many objects. */
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
  const v2 = (options.protocolV2 ?? true) && (request.headers["git-protocol"] ?? "").split(":").includes("version=2")
  if (request.method === "GET" && request.url === `${repositoryPath}/info/refs?service=git-upload-pack`)
    return bytes(v2 ? advertiseV2() : yield* Effect.promise(() => advertiseV1(repository)), "advertisement")
  if (request.method !== "POST" || request.url !== `${repositoryPath}/git-upload-pack`)
    return refuse(404, "There is no such repository or service here.")
  const body = yield* Effect.result(readBody(request))
  if (Result.isFailure(body)) return refuse(400, "The request could not be read.")
  const packets: Result.Result<ReadonlyArray<Packet>, string> = parsePackets(body.success)
  if (Result.isFailure(packets)) return refuse(400, `The request is malformed: ${packets.failure}.`)
  const result = yield* Effect.tryPromise(() => (v2 ? uploadPackV2 : uploadPackV1)(repository, packets.success)).pipe(
    Effect.result
  )
  return Result.isFailure(result)
    ? refuse(404, "A wanted object is not in this repository.")
    : bytes(result.success, "result")
})

/**
 * Serves a repository read-only over loopback HTTP, without native git. Supports Git's smart protocol v0, v1 and v2 with whole or
 * shallow packs. Dies if the port cannot be opened.
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
