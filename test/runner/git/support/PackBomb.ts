import { createHash } from "node:crypto"
import { request as send } from "node:http"
import { constants, deflateRawSync, deflateSync } from "node:zlib"
import { httpServer } from "../../../support/HttpServer.ts"

export const kinds = { commit: 1, tree: 2, blob: 3, ofsDelta: 6 } as const

const chunkBytes = 16 * 1024 * 1024
const adlerBase = 65_521

/** Returns a zlib stream of zeros, built by repeating one compressed chunk. `chunks` counts chunks of 16 MiB. */
export const packedZeros = (chunks: number): Buffer => {
  const chunk = deflateRawSync(Buffer.alloc(chunkBytes), { finishFlush: constants.Z_FULL_FLUSH })
  const checksum = Buffer.alloc(4)
  checksum.writeUInt16BE((chunks * chunkBytes) % adlerBase, 0)
  checksum.writeUInt16BE(1, 2)
  return Buffer.concat([Buffer.of(0x78, 0x9c), ...Array<Buffer>(chunks).fill(chunk), Buffer.of(3, 0), checksum])
}

export const zeros = (chunks: number) => chunks * chunkBytes

const sevenBits = (value: number): ReadonlyArray<number> =>
  value < 128 ? [value] : [(value % 128) + 128, ...sevenBits(Math.floor(value / 128))]

/** Returns a pack object whose header declares `size`. */
export const object = (type: number, size: number, packed: Buffer): Buffer => {
  const first = (type << 4) | (size % 16)
  const rest = Math.floor(size / 16)
  return Buffer.concat([Buffer.from(rest === 0 ? [first] : [first | 0x80, ...sevenBits(rest)]), packed])
}

export const stored = (type: number, content: Buffer) => object(type, content.length, deflateSync(content))

/** Returns a delta that copies the ranges `copies` of its base, which starts `distance` bytes earlier. */
export const delta = (
  distance: number,
  base: number,
  rebuilt: number,
  copies: ReadonlyArray<{ readonly bytes: number }>
): Buffer => {
  const operations = copies.flatMap(({ bytes }) => [0xb0, bytes & 0xff, bytes >> 8])
  const content = Buffer.from([...sevenBits(base), ...sevenBits(rebuilt), ...operations])
  const back: Array<number> = [distance & 0x7f]
  for (let rest = distance >> 7; rest > 0; rest >>= 7) back.unshift(0x80 | (--rest & 0x7f))
  return object(kinds.ofsDelta, content.length, Buffer.concat([Buffer.from(back), deflateSync(content)]))
}

export const pack = (objects: ReadonlyArray<Buffer>, count = objects.length): Buffer => {
  const head = Buffer.alloc(12)
  head.write("PACK")
  head.writeUInt32BE(2, 4)
  head.writeUInt32BE(count, 8)
  const content = Buffer.concat([head, ...objects])
  return Buffer.concat([content, createHash("sha1").update(content).digest()])
}

const packetBytes = 65_000

const sideBand = (contents: Buffer): Buffer => {
  const packets: Array<Buffer> = []
  for (let at = 0; at < contents.length; at += packetBytes) {
    const part = contents.subarray(at, at + packetBytes)
    packets.push(Buffer.from(`${(part.length + 5).toString(16).padStart(4, "0")}\x01`, "latin1"), part)
  }
  return Buffer.concat([...packets, Buffer.from("0000")])
}

interface Renamed {
  readonly commit: string
  readonly as: string
}

const renamed = (text: Buffer, from: string, to: string) =>
  Buffer.from(text.toString("latin1").replaceAll(from, to), "latin1")

/** Starts a proxy to a Git server that replaces the pack, and may list a different commit. */
export const packServer = (origin: string, replacement: Buffer, name: Renamed = { commit: "-", as: "-" }) =>
  httpServer((request, response) => {
    const { host: _, "content-length": __, ...headers } = request.headers
    const { method } = request
    const passed = send(
      `${origin}${request.url}`,
      { ...(method === undefined ? {} : { method }), headers },
      (answer) => {
        const parts: Array<Buffer> = []
        answer.on("data", (part: Buffer) => parts.push(part))
        answer.on("end", () => {
          const body = Buffer.concat(parts)
          const at = body.indexOf("PACK")
          response.writeHead(answer.statusCode ?? 500, { "content-type": answer.headers["content-type"] ?? "" })
          // The packet starts five bytes before the pack: four digits of length and the band number.
          const before = renamed(at === -1 ? body : body.subarray(0, at - 5), name.commit, name.as)
          response.end(at === -1 ? before : Buffer.concat([before, sideBand(replacement)]))
        })
      }
    )
    const asked: Array<Buffer> = []
    request.on("data", (part: Buffer) => asked.push(part))
    request.on("end", () => passed.end(renamed(Buffer.concat(asked), name.as, name.commit)))
  })
