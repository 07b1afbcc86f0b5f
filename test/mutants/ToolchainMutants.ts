import type { Mutant } from "./Mutant.ts"

const openPgp = "test/runner/toolchain/OpenPgp.test.ts"
const signatureFile = "runner/toolchain/OpenPgp.ts"

/** Mutants of the checks that select the tool release to execute. */
export const toolchainMutants: ReadonlyArray<Mutant> = [
  {
    name: "known tools: a file that changed unnoticeably",
    file: "runner/toolchain/Toolchain.ts",
    text: "mtimeNs, ctimeNs].join",
    broken: "mtimeNs, String(ctimeNs).length].join",
    test: "test/runner/toolchain/Toolchain.test.ts"
  },
  {
    name: "release signature: expiry of the signature",
    file: signatureFile,
    text: "signature.created + signature.lifetime <= now",
    broken: "signature.lifetime === 0",
    test: openPgp
  },
  {
    name: "release signature: weak hashes",
    file: signatureFile,
    text: `{ 8: "sha256",`,
    broken: `{ 2: "sha1" as HashName, 11: "sha224" as HashName, 1: "md5" as HashName, 8: "sha256",`,
    test: openPgp
  },
  {
    name: "release signature: demands",
    file: signatureFile,
    text: "if (signature.demandsUnknown)",
    broken: "if (signature.type === -1)",
    test: openPgp
  },
  {
    name: "release signature: over binary data",
    file: "runner/toolchain/ReleaseSignature.ts",
    text: "return signature.type === signatureTypes.binary ?",
    broken: "return signature.type >= 0 ?",
    test: openPgp
  },
  {
    name: "release signature: exactly one",
    file: "runner/toolchain/ReleaseSignature.ts",
    text: "packet?.tag !== signatureTag || others.length > 0",
    broken: "packet?.tag !== signatureTag",
    test: openPgp
  },
  {
    name: "release key: revocation",
    file: signatureFile,
    text: `if (revoked) return yield* refuse("The key is revoked.")`,
    broken: "",
    test: openPgp
  },
  {
    name: "release key: expiry",
    file: signatureFile,
    text: `if (isExpired(key, self, now)) return yield* refuse("The key has expired.")`,
    broken: "",
    test: openPgp
  },
  {
    name: "release key: its word about itself",
    file: signatureFile,
    text: "yield* holds(found.signature, key, found.over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: binding of a subkey",
    file: signatureFile,
    text: "yield* holds(binding, key, over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: agreement of a subkey",
    file: signatureFile,
    text: "yield* holds(agreed, subkey, over, now)",
    broken: "",
    test: openPgp
  },
  {
    name: "release key: length of RSA",
    file: signatureFile,
    text: "const leastModulusBits = 2048",
    broken: "const leastModulusBits = 512",
    test: openPgp
  }
]
