import { Context, Effect, Schema } from "effect"
import { isAddress, readServerAddress } from "../../schema/git/ServerAddress.ts"
import { pinnedAddresses } from "../git/GitEndpoint.ts"
import { GitPolicy } from "../git/GitPolicy.ts"
import { originProblem } from "../git/FetchPolicy.ts"
import { pinnedRequest } from "../git/PinnedRequest.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"

/**
 * There was no response. `isFinal` is true if repeating the request is pointless, because the operator does not allow the
 * address.
 */
export class ProbeFailed extends Schema.TaggedError<ProbeFailed>()("ProbeFailed", {
  isFinal: Schema.Boolean,
  message: Schema.String
}) {}

export interface ProbeAnswer {
  readonly status: number
  /** True if the first 64 KiB of the body contain the expected text. */
  readonly holds: boolean
}

export interface HttpProbeShape {
  /**
   * Sends one request under the same policy as for Git servers: https on an ordinary port and public addresses, or an origin
   * that the operator allows by name. Does not follow redirects, sends no credentials, and stores no part of the response.
   */
  readonly ask: (url: URL, text: string | undefined) => Effect.Effect<ProbeAnswer, ProbeFailed, GitPolicy>
}

const longestBody = 64 * 1024

const final = (message: string) => new ProbeFailed({ isFinal: true, message })
const silent = (message: string) => new ProbeFailed({ isFinal: false, message })

const headers = {
  accept: "*/*",
  "accept-encoding": "identity",
  connection: "close",
  "user-agent": "svc-post-apply-check"
}

const bodyHolds = async (body: AsyncIterable<Uint8Array>, text: string): Promise<boolean> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  for await (const part of body) {
    parts.push(part)
    size += part.byteLength
    if (size >= longestBody) break
  }
  return Buffer.concat(parts).subarray(0, longestBody).includes(text)
}

const answerOf = (url: URL, address: string, text: string | undefined) =>
  Effect.tryPromise({
    try: async (signal): Promise<ProbeAnswer> => {
      const response = await pinnedRequest(
        { url, method: "GET", headers, body: undefined, signal, agent: false },
        address
      )
      const holds = text === undefined || (await bodyHolds(response, text).finally(() => response.destroy()))
      response.destroy()
      return { status: response.statusCode ?? 0, holds }
    },
    catch: () => silent("it did not answer")
  }).pipe(outsideTransaction("A service is asked"))

const ask = Effect.fn("HttpProbe.ask")(function* (url: URL, text: string | undefined) {
  const policy = yield* GitPolicy
  const address = readServerAddress(url.origin)
  if (!isAddress(address) || url.username !== "" || url.password !== "") {
    return yield* final("its address is no http address without user name and password")
  }
  const problem = originProblem(address, policy)
  if (problem !== undefined) return yield* final(`its address ${problem}`)
  const addresses = yield* pinnedAddresses(url, "of the check").pipe(
    Effect.mapError(({ _tag }) =>
      _tag === "GitAddressRefused"
        ? final("its host has an address that is not public. An operator can allow its origin by name")
        : silent("its host could not be found")
    )
  )
  return yield* Effect.firstSuccessOf(addresses.map((one) => answerOf(url, one, text)))
})

/** The service that sends the requests. A host may replace it. */
export const HttpProbe = Context.Reference<HttpProbeShape>("svc/runner/probe/HttpProbe", {
  defaultValue: () => ({ ask })
})
