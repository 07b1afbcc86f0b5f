import { Effect, Result } from "effect"
import { type GitError, GitLimitExceeded, GitProtocolBroken, GitRepositoryNotFound, isGitError } from "./GitError.ts"
import type { GitLimits } from "./GitPolicy.ts"
import type { GitTransport } from "./GitTransport.ts"
import type { GitAddress } from "../../schema/git/GitAddress.ts"
import { delimPacket, encodePacket, flushPacket, type Packet, packetText, parsePackets } from "./PktLine.ts"
import type { ListedRef } from "./StableVersion.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"

/** A ref on the server. `target` names the branch that HEAD points to, if the server reports it. */
export interface RemoteRef extends ListedRef {
  readonly target: string | undefined
}

const service = "git-upload-pack"
const advertisement = `application/x-${service}-advertisement`
const result = `application/x-${service}-result`
const refLine = /^([0-9a-f]{40}) ([^\s\0]+)((?: [^\s\0]+)*)$/
const firstLine = /^([^\0]*)\0(.*)$/s

const broken = (what: string) =>
  new GitProtocolBroken({ message: `The Git server did not answer as Git servers do: ${what}.` })

/** Reads one whole response; it is valid only with its end marker, since a truncated listing still looks complete. */
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
      if (response.headers?.["content-type"] !== contentType) throw broken("the content type is another one")
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

/** Joins `<oid> <ref>` with the `<oid> <ref>^{}` that follows an annotated tag. */
const parseV1 = Effect.fnUntraced(function* (
  packets: ReadonlyArray<Packet>
): Effect.fn.Return<ReadonlyArray<RemoteRef>, GitProtocolBroken> {
  const [, refs, capabilities] = firstLine.exec(packetText(packets[0]) ?? "") ?? []
  if (refs === undefined || capabilities === undefined) return yield* broken("capabilities are missing")
  const head = /(?:^| )symref=HEAD:(\S+)/.exec(capabilities)?.[1]
  const found = new Map<string, RemoteRef>()
  for (const text of [refs, ...packets.slice(1).flatMap((packet) => packetText(packet) ?? [])]) {
    const [, oid, name] = refLine.exec(text) ?? []
    if (oid === undefined || name === undefined) return yield* broken("a ref cannot be read")
    if (name === "capabilities^{}") continue
    const tag = name.endsWith("^{}") ? found.get(name.slice(0, -3)) : undefined
    if (tag === undefined) found.set(name, { name, oid, commit: oid, target: name === "HEAD" ? head : undefined })
    else found.set(tag.name, { ...tag, commit: oid })
  }
  return [...found.values()]
})

const parseV2 = Effect.fnUntraced(function* (
  packets: ReadonlyArray<Packet>
): Effect.fn.Return<ReadonlyArray<RemoteRef>, GitProtocolBroken> {
  const found: Array<RemoteRef> = []
  for (const text of packets.flatMap((packet) => packetText(packet) ?? [])) {
    const [, oid, name, attributes] = refLine.exec(text) ?? []
    if (oid === undefined || name === undefined) {
      // HEAD without a commit; servers send it only on request, and it is harmless.
      if (text.startsWith("unborn ")) continue
      return yield* broken("a ref cannot be read")
    }
    const peeled = /(?:^| )peeled:([0-9a-f]{40})(?: |$)/.exec(attributes ?? "")?.[1]
    const target = /(?:^| )symref-target:(\S+)/.exec(attributes ?? "")?.[1]
    found.push({ name, oid, commit: peeled ?? oid, target })
  }
  return found
})

/**
 * Lists the refs that start with one of the prefixes, with annotated tags peeled, using protocol v2 or whatever older servers
 * send.
 *
 * Used instead of isomorphic-git's `listServerRefs`, which mistakes a broken connection for the end of the list (an old tag would
 * become the newest) and requests only one prefix.
 */
export const listRemoteRefs = Effect.fn("listRemoteRefs")(function* (
  transport: GitTransport,
  url: GitAddress,
  prefixes: ReadonlyArray<string>,
  limits: GitLimits
): Effect.fn.Return<ReadonlyArray<RemoteRef>, GitError> {
  const advertised = yield* exchange(
    transport,
    { url: `${url}/info/refs?service=${service}`, method: "GET" },
    advertisement
  )
  const lines = advertised.filter((packet) => packet._tag === "line")
  const body = packetText(lines[0]) === `# service=${service}` ? lines.slice(1) : lines
  const isV2 = packetText(body[0]) === "version 2"
  if (isV2 && !body.some((packet) => packetText(packet)?.split("=")[0] === "ls-refs"))
    return yield* broken("refs cannot be listed")
  const format = body.map(packetText).find((text) => text?.startsWith("object-format=") === true) ?? ""
  if (isV2 && format !== "" && format !== "object-format=sha1")
    return yield* broken("the repository uses another object format than SHA-1, which is not supported")
  const listed = isV2
    ? yield* exchange(transport, { url: `${url}/${service}`, method: "POST", body: [lsRefs(prefixes)] }, result).pipe(
        Effect.flatMap(parseV2)
      )
    : yield* parseV1(body)
  if (listed.length > limits.refs)
    return yield* new GitLimitExceeded({
      limit: "refs",
      maximum: limits.refs,
      message: `The repository has more than the ${limits.refs} refs this service accepts.`
    })
  return listed.filter((ref) => prefixes.some((prefix) => ref.name.startsWith(prefix)))
})

const lsRefs = (prefixes: ReadonlyArray<string>) =>
  Buffer.concat([
    encodePacket("command=ls-refs\n"),
    encodePacket("agent=git/svc\n"),
    delimPacket,
    encodePacket("peel\n"),
    encodePacket("symrefs\n"),
    ...prefixes.map((prefix) => encodePacket(`ref-prefix ${prefix}\n`)),
    flushPacket
  ])
