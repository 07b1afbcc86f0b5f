import { Effect, Result } from "effect"
import { type GitError, GitProtocolBroken, GitRepositoryNotFound, isGitError } from "./GitError.ts"
import type { GitTransport } from "./GitTransport.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { type Packet, packetText, parsePackets } from "./PktLine.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"

const service = "git-upload-pack"
const advertisement = `application/x-${service}-advertisement`
const result = `application/x-${service}-result`

export const broken = (what: string) =>
  new GitProtocolBroken({ message: `The Git server did not answer as Git servers do: ${what}.` })

/**
 * A response that is a web page usually comes from a proxy, a sign-in page, or the project's website rather than its
 * repository.
 */
const notGit = (mediaType: string) =>
  mediaType === "text/html" || mediaType === "application/xhtml+xml"
    ? new GitProtocolBroken({
        message:
          "The URL answers with a web page (HTML), not with a Git repository. Give the URL that git clone accepts, and check that no sign-in page or proxy is in front of it."
      })
    : mediaType === "text/plain" || mediaType === "application/octet-stream"
      ? new GitProtocolBroken({
          message:
            "The URL answers with plain files, not with Git's smart HTTP protocol. Serve the repository with git http-backend or a Git service."
        })
      : broken(
          mediaType === ""
            ? "the content type is missing"
            : `the content type is ${JSON.stringify(mediaType.slice(0, 100))}`
        )

/**
 * Reads a response completely. Fails if the end marker is missing, because a truncated listing would otherwise look
 * complete.
 */
const exchange = Effect.fnUntraced(function* (
  transport: GitTransport,
  request: { readonly url: string; readonly method: string; readonly body?: ReadonlyArray<Uint8Array> },
  contentType: string
): Effect.fn.Return<ReadonlyArray<Packet>, GitError> {
  const bytes = yield* Effect.tryPromise({
    try: async () => {
      const response = await transport.request({
        url: request.url,
        method: request.method,
        headers: {
          "git-protocol": "version=2",
          ...(request.body === undefined ? {} : { "content-type": `application/x-${service}-request`, accept: result })
        },
        ...(request.body === undefined ? {} : { body: iterate(request.body) })
      })
      const mediaType = response.headers?.["content-type"] ?? ""
      if (mediaType !== contentType) throw notGit(mediaType)
      const parts: Array<Uint8Array> = []
      for await (const part of response.body ?? []) parts.push(part)
      return Buffer.concat(parts)
    },
    catch: (error) => transport.failure() ?? (isGitError(error) ? error : broken("the answer cannot be read"))
  }).pipe(outsideTransaction("A Git server is asked"))
  const packets = parsePackets(bytes)
  if (Result.isFailure(packets)) return yield* broken(packets.failure)
  if (packets.success.at(-1)?._tag !== "flush") return yield* broken("the answer has no end")
  const refusal = packets.success.map(packetText).find((text) => text?.startsWith("ERR ") === true)
  if (refusal !== undefined)
    return yield* new GitRepositoryNotFound({ message: `The Git server refused: ${printable(refusal.slice(4))}` })
  return packets.success
})

const printable = (text: string) => text.replaceAll(/[^\x20-\x7e]+/g, " ").slice(0, 200)

async function* iterate(parts: ReadonlyArray<Uint8Array>) {
  yield* parts
}

/**
 * The capabilities of a Git server. In protocol v2 the response body lists the server's commands; in earlier versions it
 * lists the refs.
 */
export interface Advertised {
  readonly isV2: boolean
  readonly body: ReadonlyArray<Packet>
}

/**
 * Returns the arguments of a command that a protocol v2 server offers, such as `shallow filter` for `fetch`, or `undefined`
 * if the server does not offer the command.
 */
export const offered = ({ body, isV2 }: Advertised, command: string): string | undefined => {
  if (!isV2) return undefined
  const line = body.map(packetText).find((text) => text?.split("=")[0] === command)
  return line === undefined ? undefined : line.slice(command.length + 1)
}

export const readAdvertised = Effect.fnUntraced(function* (
  transport: GitTransport,
  url: GitAddress
): Effect.fn.Return<Advertised, GitError> {
  const packets = yield* exchange(
    transport,
    { url: `${url}/info/refs?service=${service}`, method: "GET" },
    advertisement
  )
  const lines = packets.filter((packet) => packet._tag === "line")
  const body = packetText(lines[0]) === `# service=${service}` ? lines.slice(1) : lines
  return { isV2: packetText(body[0]) === "version 2", body }
})

/** Sends one protocol v2 command and returns the complete response. */
export const gitCommand = (transport: GitTransport, url: GitAddress, body: Uint8Array) =>
  exchange(transport, { url: `${url}/${service}`, method: "POST", body: [body] }, result)
