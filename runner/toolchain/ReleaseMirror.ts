import { createHash } from "node:crypto"
import { Context, Effect, FileSystem, Layer, Stream } from "effect"
import { HttpClient, type HttpClientError } from "effect/http"
import { ToolDownloadFailed } from "./ToolErrors.ts"

const mebibyte = 1024 ** 2
const largestSmallFile = mebibyte
const largestArchive = 512 * mebibyte
const patience = "10 minutes"

const refuse = (url: URL, problem: string) =>
  new ToolDownloadFailed({
    reason: "unreachable",
    message: `${url.href} could not be fetched: ${problem}.`,
    remedy: "Check SVC_TOOL_MIRROR and the network, install OpenTofu yourself, or set SVC_TOOL_DOWNLOAD=off."
  })

const problemOf = (error: HttpClientError.HttpClientError) =>
  error.reason._tag === "StatusCodeError" ? `status ${error.reason.response.status}` : error.reason._tag

/** Fetches the files of a release. The results are untrusted until they are verified. All methods fail with "unreachable". */
export class ReleaseMirror extends Context.Service<
  ReleaseMirror,
  {
    /** Fetches a checksums or signature file of at most 1 MiB. */
    readonly small: (url: URL) => Effect.Effect<Uint8Array, ToolDownloadFailed>
    /** Streams an archive of at most 512 MiB to a file. Returns its SHA-256 (hexadecimal) and size in bytes. */
    readonly archive: (
      url: URL,
      file: string
    ) => Effect.Effect<{ readonly sha256: string; readonly size: number }, ToolDownloadFailed>
  }
>()("svc/runner/toolchain/ReleaseMirror") {
  static readonly layer = Layer.effect(
    ReleaseMirror,
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const client = (yield* HttpClient.HttpClient).pipe(HttpClient.followRedirects(5), HttpClient.filterStatusOk)

      const bytes = (url: URL, limit: number) =>
        Stream.unwrap(Effect.map(client.get(url), (response) => response.stream)).pipe(
          Stream.mapError((error) => refuse(url, problemOf(error))),
          Stream.mapAccumEffect(
            () => 0,
            (sofar, chunk) => {
              const size = sofar + chunk.length
              if (size > limit) return Effect.fail(refuse(url, `it is larger than ${limit / mebibyte} MiB`))
              return Effect.succeed([size, [chunk]] as const)
            }
          )
        )

      const timely = <A>(url: URL, fetch: Effect.Effect<A, ToolDownloadFailed>) =>
        Effect.timeoutOrElse(fetch, {
          duration: patience,
          orElse: () => Effect.fail(refuse(url, `it took more than ${patience}`))
        })

      const small = Effect.fn("ReleaseMirror.small")((url: URL) =>
        timely(
          url,
          Effect.map(Stream.runCollect(bytes(url, largestSmallFile)), (chunks) => Buffer.concat(chunks))
        )
      )

      const archive = Effect.fn("ReleaseMirror.archive")((url: URL, file: string) => {
        const hash = createHash("sha256")
        let size = 0
        const counted = Stream.tap(bytes(url, largestArchive), (chunk) =>
          Effect.sync(() => {
            hash.update(chunk)
            size += chunk.length
          })
        )
        const saved = Stream.run(counted, fileSystem.sink(file)).pipe(
          Effect.catchTag("PlatformError", (error) => refuse(url, `it cannot be stored (${error.reason._tag})`))
        )
        return timely(
          url,
          Effect.map(saved, () => ({ sha256: hash.digest("hex"), size }))
        )
      })

      return ReleaseMirror.of({ small, archive })
    })
  )
}
