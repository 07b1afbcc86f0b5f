import { Result } from "effect"
import { fourOctets, joined } from "./OctetReader.ts"
import type { Packet } from "./OpenPgpPackets.ts"
import { framedKey, type PublicKey, readPublicKey } from "./OpenPgpPublicKey.ts"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"
import { holds, names, readSignature, type Signature, signatureTypes } from "./OpenPgpSignature.ts"

/** A key, with the parts of it that may sign data now: itself, its subkeys, or both. */
export interface Certificate {
  readonly fingerprint: string
  readonly signers: ReadonlyArray<PublicKey>
}

const tags = { signature: 2, publicKey: 6, trust: 12, userId: 13, subkey: 14, userAttribute: 17 } as const
const partTags: ReadonlySet<number> = new Set([tags.publicKey, tags.userId, tags.subkey, tags.userAttribute])

/** A part of a key with the signatures that follow it. */
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

/** The key's latest self-signature. If it does not verify, an older one never replaces it. */
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

/** A subkey that the key binds for signing data and that has consented to the binding; fails for any other. */
const signingSubkey = (key: PublicKey, { body, signatures }: Part, now: number) =>
  Result.gen(function* () {
    if (signatures.some(({ type }) => type === signatureTypes.subkeyRevocation)) {
      return yield* refuse("The subkey is revoked.")
    }
    const subkey = yield* readPublicKey(body)
    const over = joined(framedKey(key.body), framedKey(body))
    const binding = newest(signatures.filter(isOwn(key, signatureTypes.subkeyBinding)))
    if (binding?.embedded === undefined || !binding.keySigns) return yield* refuse("The subkey is not one that signs.")
    yield* holds(binding, key, over, now)
    const agreed = yield* readSignature(binding.embedded)
    if (agreed.type !== signatureTypes.primaryKeyBinding) return yield* refuse("The subkey does not agree.")
    yield* holds(agreed, subkey, over, now)
    return isExpired(subkey, binding, now) ? yield* refuse("The subkey has expired.") : subkey
  })

const certificate = (parts: ParsedKey, now: number): Result.Result<Certificate, OpenPgpRefused> =>
  Result.gen(function* () {
    const key = yield* readPublicKey(parts.primary.body)
    // Applies no matter who revoked it or whether the revocation can be verified.
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
 * The keys in a public key file that may be used now (seconds since 1970). Fails if the file contains a key that may not be used.
 */
export const readKeyring = (
  packets: ReadonlyArray<Packet>,
  now: number
): Result.Result<ReadonlyArray<Certificate>, OpenPgpRefused> =>
  Result.gen(function* () {
    const keys = yield* parsed(packets)
    if (keys.length === 0) return yield* refuse("It holds no public key.")
    return yield* Result.all(keys.map((key) => certificate(key, now)))
  })
