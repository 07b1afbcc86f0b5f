import { isoCBOR } from "@simplewebauthn/server/helpers"

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url")
const bytesOf = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"))

// SHA-256 of "example.org".
const site = "bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5"
const extra = (random: string) =>
  `clientDataJSON may be extended with additional fields in the future, such as this: ${random}`

/** One response from an authenticator: the challenge as hex, and the browser's additions to the client data. */
interface Answer {
  readonly challenge: string
  readonly crossOrigin: boolean
  readonly extraData?: string
  /**
   * The authenticator's flags as one hex byte: 01 present, 04 verified, 08 backup eligible, 10 backed up, 40 contains a
   * credential.
   */
  readonly flags: string
}

/** An example from the specification's test vectors. Fields that only our site requires are separate. */
export interface PasskeyVector {
  readonly name: string
  readonly aaguid: string
  readonly credentialId: string
  /** COSE. */
  readonly publicKey: string
  readonly registration: Answer
  readonly authentication: Answer & { readonly signature: string }
}

const clientData = (type: string, { challenge, crossOrigin, extraData }: Answer) =>
  JSON.stringify({
    type,
    challenge: base64url(bytesOf(challenge)),
    origin: "https://example.org",
    crossOrigin,
    ...(extraData === undefined ? {} : { extraData: extra(extraData) })
  })

export const challengeText = ({ challenge }: Answer) => base64url(bytesOf(challenge))

/** Returns the registration data that a browser passes on. It contains no attestation, because none was requested. */
export const registrationOf = ({ aaguid, credentialId, publicKey, registration }: PasskeyVector) => ({
  id: base64url(bytesOf(credentialId)),
  rawId: base64url(bytesOf(credentialId)),
  type: "public-key",
  clientExtensionResults: {},
  response: {
    clientDataJSON: base64url(clientData("webauthn.create", registration)),
    attestationObject: base64url(
      isoCBOR.encode(
        new Map<string, string | Uint8Array | Map<string, string>>([
          ["fmt", "none"],
          ["attStmt", new Map<string, string>()],
          ["authData", bytesOf(`${site}${registration.flags}00000000${aaguid}0020${credentialId}${publicKey}`)]
        ])
      )
    )
  }
})

export const authenticationOf = ({ authentication, credentialId }: PasskeyVector) => ({
  id: base64url(bytesOf(credentialId)),
  rawId: base64url(bytesOf(credentialId)),
  type: "public-key",
  clientExtensionResults: {},
  response: {
    clientDataJSON: base64url(clientData("webauthn.get", authentication)),
    authenticatorData: base64url(bytesOf(`${site}${authentication.flags}00000000`)),
    signature: base64url(bytesOf(authentication.signature))
  }
})

/**
 * Examples for "example.org" from Web Authentication Level 3, chapter "Test Vectors", chosen because our requirements treat them
 * differently.
 */
export const passkeyVectors = {
  verified: {
    name: "packed.ES256",
    aaguid: "876ca4f52071c3e9b25509ef2cdf7ed6",
    credentialId: "c9a6f5b3462d02873fea0c56862234f99f081728084e511bb7760201a89054a5",
    publicKey:
      "a50102032620012158201cf27f25da591208a4239c2e324f104f585525479a29edeedd830f48e77aeae522582059e4b7da6c0106e206ce390c93ab98a15a5ec3887e57f0cc2bece803b920c423",
    registration: {
      challenge: "c1184a5fddf8045e13dc47f54b61f5a656b666b59018f16d870e9256e9952012",
      crossOrigin: false,
      extraData: "9a8bNYjKCgWrBXU-fCl1ag",
      flags: "4d"
    },
    authentication: {
      challenge: "b1106fa46a57bef1781511c0557dc898a03413d5f0f17d244630c194c7e1adb5",
      crossOrigin: false,
      extraData: "AZMwyMxIbD8-uguFNp6r8Q",
      flags: "0d",
      signature:
        "30450220694969d3ee928de6f02ef23a9c644d7d779916451734a94b432542f498a1ebe90221008b0819c824218a97152cd099c55bfb1477b29d900a49a64018314f9bfccda163"
    }
  },
  verifiedOnce: {
    name: "packed-self.ES256",
    aaguid: "df850e09db6afbdfab51697791506cfc",
    credentialId: "455ef34e2043a87db3d4afeb39bbcb6cc32df9347c789a865ecdca129cbef58c",
    publicKey:
      "a5010203262001215820eb151c8176b225cc651559fecf07af450fd85802046656b34c18f6cf193843c5225820927b8aa427a2be1b8834d233a2d34f61f13bfd44119c325d5896e183fee484f2",
    registration: {
      challenge: "7869c2b772d4b58eba9378cf8f29e26cf935aa77df0da89fa99c0bdc0a76f7e5",
      crossOrigin: false,
      extraData: "U9hTXvKE2URkMnb_0xYHVg",
      flags: "5d"
    },
    authentication: {
      challenge: "4478a10b1352348dd160c1353b0d469b5db19eb91c27f7dfa6fed39fe26af20b",
      crossOrigin: false,
      extraData: "gTb53rz6EhSWomXGzimC1Q",
      flags: "09",
      signature:
        "304402203310b9431903c401f1be2bdc8d23a4007682dbbddcf846994947b7f465daf84002204e94dd00047b316061b3b99772b7efd95994a83ef584b3b6b825ea3550251b66"
    }
  },
  unverified: {
    name: "none.ES256",
    aaguid: "8446ccb9ab1db374750b2367ff6f3a1f",
    credentialId: "f91f391db4c9b2fde0ea70189cba3fb63f579ba6122b33ad94ff3ec330084be4",
    publicKey:
      "a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61225820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220",
    registration: {
      challenge: "00c30fb78531c464d2b6771dab8d7b603c01162f2fa486bea70f283ae556e130",
      crossOrigin: false,
      extraData: "BkQeDjdcTBrXBiAwJTLE5Q",
      flags: "59"
    },
    authentication: {
      challenge: "39c0e7521417ba54d43e8dc95174f423dee9bf3cd804ff6d65c857c9abf4d408",
      crossOrigin: false,
      flags: "19",
      signature:
        "3046022100f50a4e2e4409249c4a853ba361282f09841df4dd4547a13a87780218deffcd380221008480ac0f0b93538174f575bf11a1dd5d78c6e486013f937295ea13653e331e87"
    }
  },
  framed: {
    name: "none.ES256.crossOrigin",
    aaguid: "883f4f6014f19c09d87aa38123be48d0",
    credentialId: "6e1050c0d2ca2f07c755cb2c66a74c64fa43065c18f938354d9915db2bd5ce57",
    publicKey:
      "a501020326200121582022200a473f90b11078851550d03b4e44a2279f8c4eca27b3153dedfe03e4e97d225820cbd0be95e746ad6f5a8191be11756e4c0420e72f65b466d39bc56b8b123a9c6e",
    registration: {
      challenge: "3be5aacd03537142472340ab5969f240f1d87716e20b6807ac230655fa4b3b49",
      crossOrigin: true,
      extraData: "zZquEtDR9DWqpW5tBWTFug",
      flags: "45"
    },
    authentication: {
      challenge: "876aa517ba83fdee65fcffdbca4c84eeae5d54f8041a1fc85c991e5bbb273137",
      crossOrigin: true,
      extraData: "92pcTVD0Aby-q4dtmj6efg",
      flags: "05",
      signature:
        "3046022100eb12fcf23b12764c0f122e22371fab92e283879fd798f38ee1841c951b6e40e7022100c76237ff9db77b3c56f30837cda6a09acfa2e915544e609c0733b1184036d1cf"
    }
  }
} satisfies Readonly<Record<string, PasskeyVector>>
