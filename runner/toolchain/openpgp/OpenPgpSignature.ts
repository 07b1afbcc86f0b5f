import { createHash } from "node:crypto"
import { Result } from "effect"
import { Hex } from "effect/encoding"
import { fourOctets, joined, OctetReader } from "./OctetReader.ts"
import type { HashName, PublicKey } from "./OpenPgpPublicKey.ts"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"

/** The data that is signed, or the claim made about a key. */
export const signatureTypes = {
  binary: 0x00,
  leastUserCertification: 0x10,
  mostUserCertification: 0x13,
  subkeyBinding: 0x18,
  primaryKeyBinding: 0x19,
  direct: 0x1f,
  keyRevocation: 0x20,
  subkeyRevocation: 0x28,
  certificationRevocation: 0x30
} as const

/** A version 4 signature packet. Nothing in it is trusted before `holds`. */
export interface Signature {
  readonly type: number
  readonly algorithm: number
  readonly hash: number
  /** Seconds since 1970. */
  readonly created: number
  /** Seconds after its creation; absent if it never expires. */
  readonly lifetime?: number
  /** Seconds after the creation of the key; absent if it never expires. */
  readonly keyLifetime?: number
  /** Whether the key may sign data. */
  readonly keySigns: boolean
  readonly issuerId?: string
  readonly issuerFingerprint?: string
  /** The signature by which a subkey agrees to its binding. */
  readonly embedded?: Uint8Array
  /** Whether it has a critical part that is not recognised. */
  readonly demandsUnknown: boolean
  /** The data hashed after the signed octets. */
  readonly trailer: Uint8Array
  readonly digestStart: Uint8Array
  readonly material: Uint8Array
}

const hashes: Readonly<Record<number, HashName>> = { 8: "sha256", 9: "sha384", 10: "sha512" }

const subpacket = {
  created: 2,
  lifetime: 3,
  keyLifetime: 9,
  issuerId: 16,
  keyFlags: 27,
  embedded: 32,
  issuerFingerprint: 33
} as const
const understood: ReadonlySet<number> = new Set(Object.values(subpacket))
const signDataFlag = 0x02

interface Subpackets {
  readonly found: ReadonlyMap<number, Uint8Array>
  readonly demandsUnknown: boolean
}

const readSubpackets = (octets: Uint8Array): Result.Result<Subpackets, OpenPgpRefused> =>
  Result.gen(function* () {
    const reader = new OctetReader(octets)
    const found = new Map<number, Uint8Array>()
    let demandsUnknown = false
    while (!reader.isDone) {
      const first = yield* reader.number(1)
      const length =
        first < 192
          ? first
          : first < 255
            ? (first - 192) * 256 + (yield* reader.number(1)) + 192
            : yield* reader.number(4)
      if (length === 0) return yield* refuse("A subpacket is empty.")
      const kind = yield* reader.number(1)
      const type = kind & 0x7f
      const content = yield* reader.take(length - 1)
      if (understood.has(type) && found.has(type)) return yield* refuse("A subpacket comes twice.")
      if (!understood.has(type) && kind !== type) demandsUnknown = true
      found.set(type, content)
    }
    return { found, demandsUnknown }
  })

const seconds = (octets: Uint8Array | undefined): Result.Result<number | undefined, OpenPgpRefused> =>
  octets === undefined
    ? Result.succeed(undefined)
    : octets.length === 4
      ? new OctetReader(octets).number(4)
      : refuse("A time is not one.")

/** Zero means no expiry, like an absent value. */
const lifetime = (octets: Uint8Array | undefined) =>
  Result.map(seconds(octets), (value) => (value === 0 ? undefined : value))

const fingerprintOf = (octets: Uint8Array | undefined): Result.Result<string | undefined, OpenPgpRefused> => {
  if (octets === undefined) return Result.succeed(undefined)
  if (octets.length !== 21 || octets[0] !== 4) return refuse("The issuer is not a key of version 4.")
  return Result.succeed(Hex.encode(octets.subarray(1)).toUpperCase())
}

/** The body of a signature packet. */
export const readSignature = (body: Uint8Array): Result.Result<Signature, OpenPgpRefused> =>
  Result.gen(function* () {
    const reader = new OctetReader(body)
    if ((yield* reader.number(1)) !== 4) return yield* refuse("A signature is not of version 4.")
    const type = yield* reader.number(1)
    const algorithm = yield* reader.number(1)
    const hash = yield* reader.number(1)
    const hashed = yield* readSubpackets(yield* reader.take(yield* reader.number(2)))
    const signedLength = reader.position
    const unhashed = yield* readSubpackets(yield* reader.take(yield* reader.number(2)))
    const digestStart = yield* reader.take(2)
    const material = yield* reader.take(body.length - reader.position)
    // Unsigned parts are only hints: whatever they name must verify.
    const hint = (kind: number) => hashed.found.get(kind) ?? unhashed.found.get(kind)
    const created = yield* seconds(hashed.found.get(subpacket.created))
    if (created === undefined) return yield* refuse("A signature does not say when it was made.")
    const ends = yield* lifetime(hashed.found.get(subpacket.lifetime))
    const keyEnds = yield* lifetime(hashed.found.get(subpacket.keyLifetime))
    const issuerId = hint(subpacket.issuerId)
    const issuerFingerprint = yield* fingerprintOf(hint(subpacket.issuerFingerprint))
    const embedded = hint(subpacket.embedded)
    return {
      type,
      algorithm,
      hash,
      created,
      keySigns: ((hashed.found.get(subpacket.keyFlags)?.[0] ?? 0) & signDataFlag) !== 0,
      demandsUnknown: hashed.demandsUnknown,
      trailer: joined(body.subarray(0, signedLength), Uint8Array.of(0x04, 0xff), fourOctets(signedLength)),
      digestStart,
      material,
      ...(ends === undefined ? {} : { lifetime: ends }),
      ...(keyEnds === undefined ? {} : { keyLifetime: keyEnds }),
      ...(issuerId === undefined ? {} : { issuerId: Hex.encode(issuerId).toUpperCase() }),
      ...(issuerFingerprint === undefined ? {} : { issuerFingerprint }),
      ...(embedded === undefined ? {} : { embedded })
    }
  })

/** Whether the signature names this key as its issuer. */
export const names = ({ issuerFingerprint, issuerId }: Signature, { fingerprint }: PublicKey): boolean =>
  (issuerFingerprint !== undefined || issuerId !== undefined) &&
  (issuerFingerprint ?? fingerprint) === fingerprint &&
  (issuerId ?? fingerprint.slice(-16)) === fingerprint.slice(-16)

/** Whether the key created the signature over the octets, and the signature is valid at the given time (seconds since 1970). */
export const holds = (
  signature: Signature,
  key: PublicKey,
  octets: Uint8Array,
  now: number
): Result.Result<void, OpenPgpRefused> =>
  Result.gen(function* () {
    const hash = hashes[signature.hash]
    if (hash === undefined) return yield* refuse("The hash is none of SHA-256, SHA-384 and SHA-512.")
    if (signature.demandsUnknown) return yield* refuse("It demands something that is not understood.")
    if (!names(signature, key)) return yield* refuse("It names another key.")
    if (signature.algorithm !== key.algorithm) return yield* refuse("It is of another algorithm than the key.")
    if (signature.created < key.created) return yield* refuse("It is older than the key.")
    if (signature.created > now) return yield* refuse("It was made in the future.")
    if (signature.lifetime !== undefined && signature.created + signature.lifetime <= now) {
      return yield* refuse("It has expired.")
    }
    const signed = joined(octets, signature.trailer)
    const digest = createHash(hash).update(signed).digest()
    if (digest[0] !== signature.digestStart[0] || digest[1] !== signature.digestStart[1]) {
      return yield* refuse("It is over something else.")
    }
    const material = new OctetReader(signature.material)
    const made = yield* key.made(hash, signed, material)
    yield* material.end()
    return made ? undefined : yield* refuse("The key did not make it.")
  })
