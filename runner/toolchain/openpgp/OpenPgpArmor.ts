import { Result } from "effect"
import { Base64 } from "effect/encoding"
import { joined } from "./OctetReader.ts"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"

const begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
const end = "-----END PGP PUBLIC KEY BLOCK-----"

const crc24 = (octets: Uint8Array): number => {
  let crc = 0xb704ce
  for (const octet of octets) {
    crc ^= octet << 16
    for (let bit = 0; bit < 8; bit++) {
      crc <<= 1
      if ((crc & 0x1000000) !== 0) crc ^= 0x1864cfb
    }
  }
  return crc & 0xffffff
}

const decoded = (text: string): Result.Result<Uint8Array, OpenPgpRefused> =>
  Result.match(Base64.decode(text), {
    onFailure: () => refuse("Its base64 is damaged."),
    onSuccess: (octets) => Result.succeed(octets)
  })

/** The lines between the first and the last line of a block: headers, an empty line, base64, and possibly a checksum. */
const readBlock = (lines: ReadonlyArray<string>): Result.Result<Uint8Array, OpenPgpRefused> =>
  Result.gen(function* () {
    const blank = lines.indexOf("")
    if (!lines.slice(0, Math.max(blank, 0)).every((line) => /^[A-Za-z]{1,40}: /.test(line))) {
      return yield* refuse("Its armor has a header that is none.")
    }
    const body = lines.slice(blank + 1)
    const last = body.at(-1)
    const checksum = last?.startsWith("=") === true ? last.slice(1) : undefined
    const octets = yield* decoded(body.slice(0, checksum === undefined ? undefined : -1).join(""))
    if (checksum !== undefined) {
      const sum = (yield* decoded(checksum)).reduce((total, octet) => total * 256 + octet, 0)
      if (sum !== crc24(octets)) return yield* refuse("Its checksum does not hold.")
    }
    return octets
  })

/** The octets of armored public key blocks, with nothing but white space around and between them. */
export const readArmoredKeys = (text: string): Result.Result<Uint8Array, OpenPgpRefused> =>
  Result.gen(function* () {
    const blocks: Array<Uint8Array> = []
    let block: Array<string> | undefined
    for (const line of text
      .trim()
      .split("\n")
      .map((one) => one.trim())) {
      if (block === undefined) {
        if (line === begin) block = []
        else if (line !== "") return yield* refuse("It is not an armored public key.")
      } else if (line === end) {
        const bytes = yield* readBlock(block)
        blocks.push(bytes)
        block = undefined
      } else block.push(line)
    }
    return block === undefined ? joined(...blocks) : yield* refuse("Its armor has no end.")
  })
