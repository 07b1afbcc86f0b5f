import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto"
import { isoCBOR } from "@simplewebauthn/server/helpers"

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest()

const present = 0x01
const verified = 0x04
const attested = 0x40

export interface Situation {
  readonly origin: string
  readonly rpId: string
  /** True (the default) if the device has verified the person. */
  readonly userVerified?: boolean
  /** True (the default) if the person touched the device. */
  readonly userPresent?: boolean
  /** Replaces or adds members of the client data. */
  readonly clientData?: Readonly<Record<string, unknown>>
}

/**
 * Creates a software authenticator with one ES256 passkey and a counter that the test may set. Pass `id` to claim another
 * passkey's id.
 */
export const makeAuthenticator = (id: Uint8Array = randomBytes(20)) => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const { x = "", y = "" } = publicKey.export({ format: "jwk" })
  const coseKey = isoCBOR.encode(
    new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, new Uint8Array(Buffer.from(x, "base64url"))],
      [-3, new Uint8Array(Buffer.from(y, "base64url"))]
    ])
  )
  const clientData = (type: string, challenge: string, { clientData: replaced, origin }: Situation) =>
    JSON.stringify({ type, challenge, origin, crossOrigin: false, ...replaced })

  const authenticatorData = (
    { rpId, userPresent = true, userVerified = true }: Situation,
    counter: number,
    flags: number
  ) => {
    const head = Buffer.alloc(37)
    sha256(rpId).copy(head)
    head[32] = flags | (userPresent ? present : 0) | (userVerified ? verified : 0)
    head.writeUInt32BE(counter, 33)
    return head
  }

  return {
    id: base64url(id),
    /** Responds to registration options. */
    create: (challenge: string, situation: Situation, counter = 1) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const authData = Buffer.concat([
        authenticatorData(situation, counter, attested),
        Buffer.alloc(16),
        length,
        id,
        Buffer.from(coseKey)
      ])
      const attestation = isoCBOR.encode(
        new Map<string, string | Uint8Array | Map<string, string>>([
          ["fmt", "none"],
          ["attStmt", new Map<string, string>()],
          ["authData", new Uint8Array(authData)]
        ])
      )
      return {
        id: base64url(id),
        rawId: base64url(id),
        type: "public-key",
        clientExtensionResults: { credProps: { rk: true } },
        response: {
          clientDataJSON: base64url(clientData("webauthn.create", challenge, situation)),
          attestationObject: base64url(attestation),
          transports: ["internal"]
        }
      }
    },
    /** Responds to sign-in options. */
    get: (challenge: string, situation: Situation, counter: number, userHandle?: string) => {
      const authData = authenticatorData(situation, counter, 0)
      const client = clientData("webauthn.get", challenge, situation)
      const signature = sign("sha256", Buffer.concat([authData, sha256(client)]), privateKey)
      return {
        id: base64url(id),
        rawId: base64url(id),
        type: "public-key",
        clientExtensionResults: {},
        response: {
          clientDataJSON: base64url(client),
          authenticatorData: base64url(authData),
          signature: base64url(signature),
          ...(userHandle === undefined ? {} : { userHandle: base64url(userHandle) })
        }
      }
    }
  }
}
