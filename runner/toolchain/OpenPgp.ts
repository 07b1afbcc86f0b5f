import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import { Result, Schema } from "effect"
import { Base64, Base64Url, Hex } from "effect/encoding"

/** A key or signature is not one of the few kinds that svc accepts, or cannot be verified. */
export class OpenPgpRefused extends Schema.TaggedError<OpenPgpRefused>()("OpenPgpRefused", {
  message: Schema.String
}) {}

export const refuse = (message: string): Result.Result<never, OpenPgpRefused> =>
  Result.fail(new OpenPgpRefused({ message }))

/** Reads octets one after another, from the beginning, and never beyond the end. */
class OctetReader {
  #at = 0
  readonly #octets: Uint8Array

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  get isDone(): boolean {
    return this.#at === this.#octets.length
  }

  /** Number of octets read so far. */
  get position(): number {
    return this.#at
  }

  take(count: number): Result.Result<Uint8Array, OpenPgpRefused> {
    const end = this.#at + count
    if (end > this.#octets.length) return refuse("It ends too early.")
    const taken = this.#octets.subarray(this.#at, end)
    this.#at = end
    return Result.succeed(taken)
  }

  /** Reads an unsigned number of up to four octets, big-endian. */
  number(octets: 1 | 2 | 4): Result.Result<number, OpenPgpRefused> {
    return Result.map(this.take(octets), (taken) => taken.reduce((sum, octet) => sum * 256 + octet, 0))
  }

  /** Reads the octets of a multiprecision integer, which must be in its shortest form. */
  integer(): Result.Result<Uint8Array, OpenPgpRefused> {
    return Result.flatMap(this.number(2), (bits) =>
      Result.flatMap(this.take(Math.ceil(bits / 8)), (octets) =>
        bits === 0 || 32 - Math.clz32(octets[0] ?? 0) !== ((bits - 1) % 8) + 1
          ? refuse("An integer has leading zeros.")
          : Result.succeed(octets)
      )
    )
  }

  end(): Result.Result<void, OpenPgpRefused> {
    return this.isDone ? Result.succeed(undefined) : refuse("Something follows its end.")
  }
}

const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** Encodes a four-octet length, big-endian. */
const fourOctets = (length: number): Uint8Array =>
  Uint8Array.from([length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff])

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

/** Decodes the lines of a block between its first and last line: headers, an empty line, base64, and possibly a checksum. */
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

/** Decodes armored public key blocks. Only whitespace may surround or separate the blocks. */
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

interface Packet {
  readonly tag: number
  readonly body: Uint8Array
}

// Maximum number of packets. A release key with several names and subkeys has a few dozen.
const mostPackets = 512

const newLength = (reader: OctetReader): Result.Result<number, OpenPgpRefused> =>
  Result.gen(function* () {
    const first = yield* reader.number(1)
    if (first < 192) return first
    if (first < 224) return (first - 192) * 256 + (yield* reader.number(1)) + 192
    return first === 255 ? yield* reader.number(4) : yield* refuse("A packet comes in parts.")
  })

const oldLength = (reader: OctetReader, kind: number): Result.Result<number, OpenPgpRefused> => {
  switch (kind) {
    case 0:
      return reader.number(1)
    case 1:
      return reader.number(2)
    case 2:
      return reader.number(4)
    default:
      return refuse("A packet does not say how long it is.")
  }
}

/** Splits a binary OpenPGP message into packets, each with a known length. Accepts no bytes between or after the packets. */
export const readPackets = (octets: Uint8Array): Result.Result<ReadonlyArray<Packet>, OpenPgpRefused> =>
  Result.gen(function* () {
    const reader = new OctetReader(octets)
    const packets: Array<Packet> = []
    while (!reader.isDone) {
      const header = yield* reader.number(1)
      if ((header & 0x80) === 0) return yield* refuse("It is not binary OpenPGP.")
      const isNew = (header & 0x40) !== 0
      const tag = isNew ? header & 0x3f : (header >> 2) & 0x0f
      const length = isNew ? yield* newLength(reader) : yield* oldLength(reader, header & 0x03)
      const body = yield* reader.take(length)
      packets.push({ tag, body })
      if (packets.length > mostPackets) return yield* refuse("It has too many packets.")
    }
    return packets
  })

/** The hash algorithms that svc accepts in signatures. SHA-1 and MD5 are refused. */
type HashName = "sha256" | "sha384" | "sha512"

/** A public key of an accepted kind, with which signatures can be verified. */
interface PublicKey {
  /** Body of the packet, from which fingerprints and certifications are computed. */
  readonly body: Uint8Array
  /** 40 hexadecimal digits, upper case. */
  readonly fingerprint: string
  /** Seconds since the Unix epoch. */
  readonly created: number
  readonly algorithm: number
  /** Returns true if this key created the signature over the digest of the octets. */
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
    if (point.length !== 33 || point[0] !== 0x40) return yield* refuse("Its point is not a point of Ed25519.")
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

/** Returns the input of the hash for fingerprints and certifications: the length of the key's body, then the body. */
export const framedKey = (body: Uint8Array): Uint8Array =>
  joined(Uint8Array.of(0x99, body.length >> 8, body.length & 0xff), body)

/** Parses the body of a version 4 public key or subkey packet. */
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

/** The types of signatures: over data, or over a claim about a key. */
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

/** A version 4 signature packet. Do not use any of it before `holds` returns true. */
interface Signature {
  readonly type: number
  readonly algorithm: number
  readonly hash: number
  /** Seconds since the Unix epoch. */
  readonly created: number
  /** Seconds from the creation of the signature to its expiry; absent if the signature never expires. */
  readonly lifetime?: number
  /** Seconds from the creation of the key to its expiry; absent if the key never expires. */
  readonly keyLifetime?: number
  /** True if the key may sign data. */
  readonly keySigns: boolean
  readonly issuerId?: string
  readonly issuerFingerprint?: string
  /** The signature with which a subkey confirms its binding to the key. */
  readonly embedded?: Uint8Array
  /** True if the signature has a critical part that svc does not support. */
  readonly demandsUnknown: boolean
  /** Data that is hashed after the signed octets. */
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
      : refuse("A time must have 4 octets.")

/** Treat zero like an absent value, because zero means that there is no expiry. */
const lifetime = (octets: Uint8Array | undefined) =>
  Result.map(seconds(octets), (value) => (value === 0 ? undefined : value))

const fingerprintOf = (octets: Uint8Array | undefined): Result.Result<string | undefined, OpenPgpRefused> => {
  if (octets === undefined) return Result.succeed(undefined)
  if (octets.length !== 21 || octets[0] !== 4) return refuse("The issuer is not a key of version 4.")
  return Result.succeed(Hex.encode(octets.subarray(1)).toUpperCase())
}

/** Parses the body of a signature packet. */
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
    // Use unsigned parts only as hints: a key found through them must still be verified.
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

/** Returns true if the signature lists this key as its issuer. */
export const names = ({ issuerFingerprint, issuerId }: Signature, { fingerprint }: PublicKey): boolean =>
  (issuerFingerprint !== undefined || issuerId !== undefined) &&
  (issuerFingerprint ?? fingerprint) === fingerprint &&
  (issuerId ?? fingerprint.slice(-16)) === fingerprint.slice(-16)

/**
 * Returns true if the key created the signature over the octets, and the signature is valid at the given time (seconds since the
 * Unix epoch).
 */
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

/** A key, and its parts that may currently sign data: the key itself, subkeys, or both. */
interface Certificate {
  readonly fingerprint: string
  readonly signers: ReadonlyArray<PublicKey>
}

const tags = { signature: 2, publicKey: 6, trust: 12, userId: 13, subkey: 14, userAttribute: 17 } as const
const partTags: ReadonlySet<number> = new Set([tags.publicKey, tags.userId, tags.subkey, tags.userAttribute])

/** A part of a key, and its signatures. */
interface Part {
  readonly tag: number
  readonly body: Uint8Array
  readonly signatures: Array<Signature>
}

interface ParsedKey {
  readonly primary: Part
  readonly others: Array<Part>
}

const parsed = (packets: ReadonlyArray<Packet>): Result.Result<ReadonlyArray<ParsedKey>, OpenPgpRefused> =>
  Result.gen(function* () {
    const keys: Array<ParsedKey> = []
    let last: Part | undefined
    for (const { body, tag } of packets) {
      if (tag === tags.trust) continue
      if (tag === tags.signature) {
        if (last === undefined) return yield* refuse("A signature belongs to nothing.")
        const signature = yield* readSignature(body)
        last.signatures.push(signature)
        continue
      }
      if (!partTags.has(tag)) return yield* refuse("It has a packet that is no part of a public key.")
      last = { tag, body, signatures: [] }
      if (tag === tags.publicKey) keys.push({ primary: last, others: [] })
      else if (keys.length === 0) return yield* refuse("It does not begin with a public key.")
      else keys.at(-1)?.others.push(last)
    }
    return keys
  })

const framedUserId = (body: Uint8Array) => joined(Uint8Array.of(0xb4), fourOctets(body.length), body)

const isOwn =
  (key: PublicKey, least: number, most = least) =>
  (one: Signature) =>
    one.type >= least && one.type <= most && names(one, key)

const newest = (signatures: ReadonlyArray<Signature>): Signature | undefined =>
  signatures.toSorted((a, b) => b.created - a.created)[0]

const isExpired = (key: PublicKey, { keyLifetime }: Signature, now: number): boolean =>
  keyLifetime !== undefined && key.created + keyLifetime <= now

/** Returns the latest self-signature of the key. Never returns an older one, even if the latest one does not verify. */
const selfSignature = (key: PublicKey, { others, primary }: ParsedKey, now: number) =>
  Result.gen(function* () {
    const { certificationRevocation, direct, leastUserCertification, mostUserCertification } = signatureTypes
    const said = [
      ...primary.signatures.filter(isOwn(key, direct)).map((signature) => ({ signature, over: framedKey(key.body) })),
      ...others
        .filter(({ signatures, tag }) => tag === tags.userId && !signatures.some(isOwn(key, certificationRevocation)))
        .flatMap(({ body, signatures }) =>
          signatures
            .filter(isOwn(key, leastUserCertification, mostUserCertification))
            .map((signature) => ({ signature, over: joined(framedKey(key.body), framedUserId(body)) }))
        )
    ]
    const last = newest(said.map(({ signature }) => signature))
    const found = said.find(({ signature }) => signature === last)
    if (found === undefined) return yield* refuse("The key does not certify itself.")
    yield* holds(found.signature, key, found.over, now)
    return found.signature
  })

/**
 * Accepts a subkey if the key has bound it for signing data and the subkey confirms the binding. Fails for any other subkey.
 */
const signingSubkey = (key: PublicKey, { body, signatures }: Part, now: number) =>
  Result.gen(function* () {
    if (signatures.some(({ type }) => type === signatureTypes.subkeyRevocation)) {
      return yield* refuse("The subkey is revoked.")
    }
    const subkey = yield* readPublicKey(body)
    const over = joined(framedKey(key.body), framedKey(body))
    const binding = newest(signatures.filter(isOwn(key, signatureTypes.subkeyBinding)))
    if (binding?.embedded === undefined || !binding.keySigns) return yield* refuse("The subkey is not allowed to sign.")
    yield* holds(binding, key, over, now)
    const agreed = yield* readSignature(binding.embedded)
    if (agreed.type !== signatureTypes.primaryKeyBinding) return yield* refuse("The subkey does not agree.")
    yield* holds(agreed, subkey, over, now)
    return isExpired(subkey, binding, now) ? yield* refuse("The subkey has expired.") : subkey
  })

const certificate = (parts: ParsedKey, now: number): Result.Result<Certificate, OpenPgpRefused> =>
  Result.gen(function* () {
    const key = yield* readPublicKey(parts.primary.body)
    // Respect every revocation, regardless of its issuer, even if it cannot be verified.
    const revoked = [parts.primary, ...parts.others].some(({ signatures }) =>
      signatures.some(({ type }) => type === signatureTypes.keyRevocation)
    )
    if (revoked) return yield* refuse("The key is revoked.")
    const self = yield* selfSignature(key, parts, now)
    if (isExpired(key, self, now)) return yield* refuse("The key has expired.")
    const subkeys = parts.others
      .filter(({ tag }) => tag === tags.subkey)
      .flatMap((part) =>
        Result.match(signingSubkey(key, part, now), { onFailure: () => [], onSuccess: (one) => [one] })
      )
    return { fingerprint: key.fingerprint, signers: [...(self.keySigns ? [key] : []), ...subkeys] }
  })

/**
 * Returns the keys in a public key file that may be used now (seconds since the Unix epoch). Fails if the file contains a key
 * that may not be used.
 */
export const readKeyring = (
  packets: ReadonlyArray<Packet>,
  now: number
): Result.Result<ReadonlyArray<Certificate>, OpenPgpRefused> =>
  Result.gen(function* () {
    const keys = yield* parsed(packets)
    if (keys.length === 0) return yield* refuse("It contains no public key.")
    return yield* Result.all(keys.map((key) => certificate(key, now)))
  })
