import { expect } from "bun:test"
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { readFileSync } from "node:fs"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { framedKey, readPackets, readPublicKey, readSignature } from "../../../runner/toolchain/OpenPgp.ts"
import { verifySignature } from "../../../runner/toolchain/ReleaseSignature.ts"
import { it } from "../../support/Effect.ts"

// Created with GnuPG on 2026-11-01 (keys) and 2026-11-02 (signatures): see gpg/make.sh.
const file = (name: string) => new Uint8Array(readFileSync(new URL(`./gpg/${name}`, import.meta.url)))
const content = file("content")
const signedAt = "2026-11-03T00:00:00.000Z"

const verify = Effect.fnUntraced(function* (
  key: string | Uint8Array,
  signature: Uint8Array,
  options: { readonly at?: string; readonly over?: Uint8Array } = {}
) {
  yield* TestClock.setTime(Date.parse(options.at ?? signedAt))
  return yield* verifySignature(options.over ?? content, signature, { material: key, fingerprint: undefined }).pipe(
    Effect.match({ onFailure: ({ reason }) => reason, onSuccess: () => "holds" as const })
  )
})

/** Each GnuPG signature, with the trusted key, the time of the check, and the expected verdict. */
const cases: ReadonlyArray<
  readonly [why: string, key: string, signature: string, at: string, verdict: "holds" | "key" | "signature"]
> = [
  ["Ed25519", "ed.gpg", "ed.sig", signedAt, "holds"],
  ["Ed25519 over SHA-256", "ed.gpg", "sha256.sig", signedAt, "holds"],
  ["a signing subkey beside one that encrypts", "sub.gpg", "sub.sig", signedAt, "holds"],
  ["RSA of 2048 bits", "rsa.gpg", "rsa.sig", signedAt, "holds"],
  ["a remark that need not be understood", "ed.gpg", "notation.sig", signedAt, "holds"],
  ["a key that will expire", "short.gpg", "short.sig", signedAt, "holds"],
  ["a signature that will expire", "ed.gpg", "expiring.sig", signedAt, "holds"],
  ["a signature that has expired", "ed.gpg", "expiring.sig", "2026-11-20T00:00:00.000Z", "signature"],
  ["a signature of the future", "ed.gpg", "ed.sig", "2026-11-01T12:00:00.000Z", "signature"],
  ["a key of the future", "ed.gpg", "ed.sig", "2026-10-01T00:00:00.000Z", "key"],
  ["a key that has expired", "short.gpg", "short.sig", "2026-12-20T00:00:00.000Z", "key"],
  ["a subkey that will expire", "shortsub.gpg", "shortsub.sig", signedAt, "holds"],
  ["a subkey that has expired", "shortsub.gpg", "shortsub.sig", "2026-12-20T00:00:00.000Z", "signature"],
  ["a key that was revoked", "revoked.gpg", "revoked.sig", signedAt, "key"],
  ["a subkey that was revoked", "revokedsub.gpg", "revokedsub.sig", signedAt, "signature"],
  ["another key", "rsa.gpg", "ed.sig", signedAt, "signature"],
  ["a key that only certifies", "certifies.gpg", "ed.sig", signedAt, "signature"],
  ["SHA-1", "ed.gpg", "sha1.sig", signedAt, "signature"],
  ["SHA-224", "ed.gpg", "sha224.sig", signedAt, "signature"],
  ["MD5", "rsa.gpg", "md5.sig", signedAt, "signature"],
  ["RSA of 1024 bits", "weak.gpg", "weak.sig", signedAt, "key"],
  ["another kind of key", "curve.gpg", "curve.sig", signedAt, "key"],
  ["a signature over text", "ed.gpg", "text.sig", signedAt, "signature"],
  ["a demand that is not understood", "ed.gpg", "critical.sig", signedAt, "signature"],
  ["a signature in armor", "ed.gpg", "armored.sig", signedAt, "signature"],
  ["a cleartext message", "ed.gpg", "cleartext.sig", signedAt, "signature"],
  ["a signed message", "ed.gpg", "inline.sig", signedAt, "signature"],
  ["a signature in place of the key", "ed.sig", "ed.sig", signedAt, "key"],
  ["a key in place of the signature", "ed.gpg", "ed.gpg", signedAt, "signature"]
]

for (const [why, key, signature, at, verdict] of cases) {
  it.effect(`${why}: ${verdict === "holds" ? verdict : `refused for the ${verdict}`}`, () =>
    Effect.gen(function* () {
      expect(yield* verify(file(key), file(signature), { at })).toBe(verdict)
    })
  )
}

it.effect("verification rejects signed content that has been changed, shortened or extended", () =>
  Effect.gen(function* () {
    for (const over of [content.slice(1), content.slice(0, -1), Uint8Array.of(...content, 10), new Uint8Array()]) {
      expect(yield* verify(file("ed.gpg"), file("ed.sig"), { over })).toBe("signature")
    }
  })
)

it.effect("a signature file must contain exactly one signature", () =>
  Effect.gen(function* () {
    const good = file("ed.sig")
    for (const signature of [
      Uint8Array.of(...good, ...good),
      Uint8Array.of(...good, ...file("sha256.sig")),
      Uint8Array.of(...file("ed.gpg"), ...good),
      // An empty marker packet.
      Uint8Array.of(...good, 0xca, 0),
      Uint8Array.of(...good, 0),
      new Uint8Array()
    ]) {
      expect(yield* verify(file("ed.gpg"), signature)).toBe("signature")
    }
  })
)

/** Finds the unsigned hints of the last signature packet. */
const hintsAtEnd = (octets: Uint8Array) => {
  const body = Result.getOrThrow(readPackets(octets)).at(-1)?.body ?? new Uint8Array()
  // The length of the hints follows the signed part. The trailer repeats that part before its own six octets.
  const lengthAt = octets.length - body.length + Result.getOrThrow(readSignature(body)).trailer.length - 6
  const from = lengthAt + 2
  return { from, to: from + ((octets[lengthAt] ?? 0) << 8) + (octets[lengthAt + 1] ?? 0) }
}

const turned = (octets: Uint8Array, at: number, mask: number) =>
  Uint8Array.from(octets, (octet, index) => (index === at ? octet ^ mask : octet))

for (const [key, signature, masks] of [
  ["ed.gpg", "ed.sig", [1, 2, 4, 8, 16, 32, 64, 128]],
  ["sub.gpg", "sub.sig", [1]],
  ["rsa.gpg", "rsa.sig", [128]]
] as const) {
  it.effect(`verification rejects ${signature} and ${key} if truncated at any position`, () =>
    Effect.gen(function* () {
      const [whole, of] = [file(signature), file(key)]
      for (let length = 0; length < whole.length; length++) {
        expect([length, yield* verify(of, whole.slice(0, length))]).toEqual([length, "signature"])
      }
      const accepted: Array<number> = []
      for (let length = 0; length < of.length; length++) {
        if ((yield* verify(of.slice(0, length), whole)) === "holds") accepted.push(length)
      }
      // The encryption subkey comes last. If its binding or the entire subkey is cut off, the rest is a complete key.
      const [subkey, binding] = Result.getOrThrow(readPackets(of)).slice(-2)
      const unbound = of.length - (binding?.body.length ?? 0) - 2
      expect(accepted).toEqual(key === "sub.gpg" ? [unbound - (subkey?.body.length ?? 0) - 2, unbound] : [])
    })
  )

  it.effect(`verification rejects ${signature} if any bit is flipped, except in its unsigned hints`, () =>
    Effect.gen(function* () {
      const whole = file(signature)
      const hints = hintsAtEnd(whole)
      for (let at = 0; at < whole.length; at++) {
        if (at >= hints.from && at < hints.to) continue
        for (const mask of masks) {
          const verdict = yield* verify(file(key), turned(whole, at, mask))
          expect([at, mask, verdict]).toEqual([at, mask, "signature"])
        }
      }
    })
  )
}

it.effect("verification rejects a key if any octet of its self-signatures has changed, except in unsigned hints", () =>
  Effect.gen(function* () {
    const key = file("ed.gpg")
    const hints = hintsAtEnd(key)
    for (let at = 0; at < key.length; at++) {
      if (at >= hints.from && at < hints.to) continue
      expect([at, yield* verify(turned(key, at, 1), file("ed.sig"))]).not.toEqual([at, "holds"])
    }
  })
)

const framed = ({ body, tag }: { readonly tag: number; readonly body: Uint8Array }) =>
  Buffer.from([0xc0 | tag, 0xff, 0, 0, body.length >> 8, body.length & 0xff, ...body])

const ed25519 = 27

/** Builds the body of a signature packet over the given octets that claims to come from `issuer` but is signed with `secret`. */
const forged = (
  given: { readonly type: number; readonly issuer: string; readonly embedded?: Uint8Array },
  over: Uint8Array,
  secret: KeyObject
) => {
  const subpacket = (type: number, content: Uint8Array) =>
    Buffer.from([0xff, ...octets(content.length + 1), type, ...content])
  const hashed = Buffer.concat([
    subpacket(2, octets(Date.parse("2026-11-02T00:00:00.000Z") / 1000)),
    subpacket(27, Uint8Array.of(0x02)),
    subpacket(33, Buffer.from(`04${given.issuer}`, "hex")),
    ...(given.embedded === undefined ? [] : [subpacket(32, given.embedded)])
  ])
  const head = Buffer.from([4, given.type, ed25519, 10, hashed.length >> 8, hashed.length & 0xff, ...hashed])
  const signed = Buffer.concat([over, head, Uint8Array.of(4, 0xff), octets(head.length)])
  const digest = createHash("sha512").update(signed).digest()
  return Buffer.concat([head, Uint8Array.of(0, 0), digest.subarray(0, 2), sign(null, digest, secret)])
}

const octets = (value: number) => {
  const four = Buffer.alloc(4)
  four.writeUInt32BE(value)
  return four
}

it.effect("a subkey that consents but is not bound by the key cannot sign a release", () =>
  Effect.gen(function* () {
    const own = Result.getOrThrow(readPackets(file("ed.gpg")))
    const primary = Result.getOrThrow(readPublicKey(own[0]?.body ?? new Uint8Array()))
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const point = publicKey.export({ format: "der", type: "spki" }).subarray(-32)
    const subkey = Result.getOrThrow(
      readPublicKey(Buffer.concat([Uint8Array.of(4), octets(primary.created), Uint8Array.of(ed25519), point]))
    )
    const both = Buffer.concat([framedKey(primary.body), framedKey(subkey.body)])
    const embedded = forged({ type: 0x19, issuer: subkey.fingerprint }, both, privateKey)
    // The owner of a subkey can sign the consent and name the primary key as the issuer of a binding, but cannot sign the
    // binding with the primary key.
    const binding = forged({ type: 0x18, issuer: primary.fingerprint, embedded }, both, privateKey)
    binding[2] = primary.algorithm
    const release = framed({ tag: 2, body: forged({ type: 0, issuer: subkey.fingerprint }, content, privateKey) })
    const grafted = Buffer.concat([
      ...own.map(framed),
      framed({ tag: 14, body: subkey.body }),
      framed({ tag: 2, body: binding })
    ])
    expect(yield* verify(grafted, file("ed.sig"))).toBe("holds")
    expect(yield* verify(grafted, release)).toBe("signature")

    // The same signature verifies against a standalone key, so only the binding is at fault.
    const name = Buffer.from("mallory@example.test")
    const itself = Buffer.concat([framedKey(subkey.body), Uint8Array.of(0xb4), octets(name.length), name])
    const certification = forged({ type: 0x13, issuer: subkey.fingerprint }, itself, privateKey)
    const malloryKey = Buffer.concat([
      framed({ tag: 6, body: subkey.body }),
      framed({ tag: 13, body: name }),
      framed({ tag: 2, body: certification })
    ])
    expect(yield* verify(malloryKey, release)).toBe("holds")

    // Mallory can also bind somebody else's key as a subkey, but cannot sign with that key to give its consent.
    const claimed = Buffer.concat([framedKey(subkey.body), framedKey(primary.body)])
    const claim = (agreement: Uint8Array) =>
      forged({ type: 0x18, issuer: subkey.fingerprint, embedded: agreement }, claimed, privateKey)
    const unwilling = forged({ type: 0x19, issuer: primary.fingerprint }, claimed, privateKey)
    const thief = Buffer.concat([
      malloryKey,
      framed({ tag: 14, body: primary.body }),
      framed({ tag: 2, body: claim(unwilling) })
    ])
    expect(yield* verify(thief, release)).toBe("holds")
    expect(yield* verify(thief, file("ed.sig"))).toBe("signature")
  })
)

it.effect("verification does not trust a key without a bound name", () =>
  Effect.gen(function* () {
    const [primary] = Result.getOrThrow(readPackets(file("ed.gpg")))
    const body = primary?.body ?? new Uint8Array()
    expect(yield* verify(Uint8Array.of(0xc6, body.length, ...body), file("ed.sig"))).toBe("key")
  })
)

it.effect("verification accepts only complete armor", () =>
  Effect.gen(function* () {
    const armor = new TextDecoder().decode(file("key.asc"))
    const sums = file("tofu_1.9.2_SHA256SUMS")
    const signature = file("tofu_1.9.2_SHA256SUMS.gpgsig")
    const read = (text: string) => verify(text, signature, { over: sums, at: "2026-11-22T00:00:00.000Z" })
    expect(yield* read(armor)).toBe("holds")
    expect(yield* read(`\n${armor.replaceAll("\n", "\r\n")}\n\n`)).toBe("holds")
    const lines = armor.trim().split("\n")
    for (const broken of [
      `before\n${armor}`,
      `${armor}\nafter`,
      lines.slice(1).join("\n"),
      lines.slice(0, -1).join("\n"),
      armor.replace("PUBLIC KEY BLOCK", "PRIVATE KEY BLOCK"),
      armor.replace(/^=.{4}$/m, "=AAAA"),
      armor.replace(/\n\n/, "\nnot a header\n\n"),
      lines.filter((_, index) => index !== 10).join("\n"),
      ""
    ]) {
      expect(yield* read(broken)).toBe("key")
    }
  })
)

it.effect("every OpenPGP input yields a verdict, without an unexpected failure or an endless loop", () =>
  Effect.gen(function* () {
    let seed = 7
    const random = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff)
    for (let round = 0; round < 2000; round++) {
      const source = file(round % 2 === 0 ? "sub.gpg" : "sub.sig")
      const octets = Uint8Array.from(source, (octet) => (random() % 40 === 0 ? random() & 0xff : octet))
      const verdict = yield* round % 2 === 0 ? verify(octets, file("sub.sig")) : verify(file("sub.gpg"), octets)
      expect(["holds", "key", "signature"]).toContain(verdict)
    }
  })
)
