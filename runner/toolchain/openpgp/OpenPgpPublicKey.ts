import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import { Result } from "effect"
import { Base64Url, Hex } from "effect/encoding"
import { joined, OctetReader } from "./OctetReader.ts"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"

/** The accepted signature hashes; SHA-1 and MD5 are not among them. */
export type HashName = "sha256" | "sha384" | "sha512"

/** A public key of an accepted kind that can verify. */
export interface PublicKey {
  /** The packet's body, which is the input of fingerprints and certifications. */
  readonly body: Uint8Array
  /** 40 hexadecimal digits, upper case. */
  readonly fingerprint: string
  /** Seconds since 1970. */
  readonly created: number
  readonly algorithm: number
  /** Whether this key created the signature material over the digest of the octets. */
  readonly made: (hash: HashName, octets: Uint8Array, material: OctetReader) => Result.Result<boolean, OpenPgpRefused>
}

const rsa = 1
const ed25519Legacy = 22
const ed25519 = 27
/** 1.3.6.1.4.1.11591.15.1 */
const ed25519Curve = "2b06010401da470f01"

const leastModulusBits = 2048
const mostModulusBits = 8192
const publicExponent = "010001"

const padded = (octets: Uint8Array, length: number): Uint8Array | undefined => {
  if (octets.length > length) return undefined
  const result = new Uint8Array(length)
  result.set(octets, length - octets.length)
  return result
}

const imported = (jwk: Readonly<Record<string, string>>): Result.Result<KeyObject, OpenPgpRefused> =>
  Result.try({ try: () => createPublicKey({ key: jwk, format: "jwk" }), catch: () => undefined }).pipe(
    Result.match({ onFailure: () => refuse("The key is not a key."), onSuccess: (key) => Result.succeed(key) })
  )

type Verifier = PublicKey["made"]

const rsaVerifier = (reader: OctetReader): Result.Result<Verifier, OpenPgpRefused> =>
  Result.gen(function* () {
    const n = yield* reader.integer()
    const e = yield* reader.integer()
    const bits = n.length * 8
    if (bits < leastModulusBits || bits > mostModulusBits) {
      return yield* refuse(`Its RSA modulus is not of ${leastModulusBits} to ${mostModulusBits} bits.`)
    }
    if (Hex.encode(e) !== publicExponent) return yield* refuse("Its RSA exponent is not 65537.")
    const key = yield* imported({ kty: "RSA", n: Base64Url.encode(n), e: Base64Url.encode(e) })
    return (hash, octets, material) =>
      Result.map(material.integer(), (integer) => {
        const signature = padded(integer, n.length)
        return signature !== undefined && verify(hash, octets, key, signature)
      })
  })

const ed25519Verifier = (
  point: Uint8Array,
  read: (material: OctetReader) => Result.Result<Uint8Array, OpenPgpRefused>
) =>
  Result.map(
    imported({ kty: "OKP", crv: "Ed25519", x: Base64Url.encode(point) }),
    (key): Verifier =>
      (hash, octets, material) =>
        Result.map(read(material), (signature) =>
          verify(null, createHash(hash).update(octets).digest(), key, signature)
        )
  )

const twoIntegers = (material: OctetReader) =>
  Result.gen(function* () {
    const r = padded(yield* material.integer(), 32)
    const s = padded(yield* material.integer(), 32)
    return r === undefined || s === undefined ? yield* refuse("A number is too long.") : joined(r, s)
  })

const legacyVerifier = (reader: OctetReader): Result.Result<Verifier, OpenPgpRefused> =>
  Result.gen(function* () {
    const curve = yield* reader.take(yield* reader.number(1))
    if (Hex.encode(curve) !== ed25519Curve) return yield* refuse("Its curve is not Ed25519.")
    const point = yield* reader.integer()
    if (point.length !== 33 || point[0] !== 0x40) return yield* refuse("Its point is not one of Ed25519.")
    return yield* ed25519Verifier(point.subarray(1), twoIntegers)
  })

const verifierOf = (algorithm: number, reader: OctetReader): Result.Result<Verifier, OpenPgpRefused> => {
  switch (algorithm) {
    case rsa:
      return rsaVerifier(reader)
    case ed25519Legacy:
      return legacyVerifier(reader)
    case ed25519:
      return Result.flatMap(reader.take(32), (point) => ed25519Verifier(point, (material) => material.take(64)))
    default:
      return refuse("The key is neither RSA nor Ed25519.")
  }
}

/** The input of fingerprints and certifications: the key's body after its length. */
export const framedKey = (body: Uint8Array): Uint8Array =>
  joined(Uint8Array.of(0x99, body.length >> 8, body.length & 0xff), body)

/** The body of a version 4 public key or subkey packet. */
export const readPublicKey = (body: Uint8Array): Result.Result<PublicKey, OpenPgpRefused> =>
  Result.gen(function* () {
    const reader = new OctetReader(body)
    if (body.length > 0xffff) return yield* refuse("The key is too long.")
    if ((yield* reader.number(1)) !== 4) return yield* refuse("The key is not of version 4.")
    const created = yield* reader.number(4)
    const algorithm = yield* reader.number(1)
    const made = yield* verifierOf(algorithm, reader)
    yield* reader.end()
    const fingerprint = createHash("sha1").update(framedKey(body)).digest("hex").toUpperCase()
    return { body, fingerprint, created, algorithm, made }
  })
