import { agentRpcPath } from "../../../schema/agent/Blob.ts"

const endOfHead = Buffer.from("\r\n\r\n")
const endOfChunks = Buffer.from("0\r\n\r\n")
const kindSegment = 6

/** The head of an HTTP/1.1 request or response, and the framing of its body. */
interface Head {
  readonly bytes: number
  readonly firstLine: string
  readonly length: number | undefined
  readonly isChunked: boolean
}

export const headOf = (bytes: Buffer): Head | undefined => {
  const end = bytes.indexOf(endOfHead)
  if (end === -1) return undefined
  const text = bytes.toString("latin1", 0, end)
  const length = /^content-length: *(\d+)/im.exec(text)?.[1]
  return {
    bytes: end + endOfHead.length,
    firstLine: text.split("\r\n", 1)[0] ?? "",
    length: length === undefined ? undefined : Number(length),
    isChunked: /^transfer-encoding: *chunked/im.test(text)
  }
}

/** Returns the length of the first message in these bytes, or `undefined` if it is still incomplete. */
export const wholeBytes = (bytes: Buffer): number | undefined => {
  const head = headOf(bytes)
  if (head === undefined) return undefined
  if (head.isChunked) {
    const end = bytes.indexOf(endOfChunks, head.bytes)
    return end === -1 ? undefined : end + endOfChunks.length
  }
  const whole = head.bytes + (head.length ?? 0)
  return bytes.length < whole ? undefined : whole
}

/** Returns the name that the tables use for a request: a message of the protocol, or a transfer such as `PUT state`. */
export const messageOf = (request: Buffer): string => {
  const [method = "", path = ""] = (headOf(request)?.firstLine ?? "").split(" ")
  if (path === agentRpcPath) return /"tag":"([A-Za-z]+)"/.exec(request.toString("latin1"))?.[1] ?? "unknown"
  return `${method} ${path.split("/")[kindSegment] ?? path}`
}
