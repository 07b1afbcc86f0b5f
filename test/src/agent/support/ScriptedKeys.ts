/** Creates a key pair of the scripted server. */
export const pair = (name: "X25519" | "Ed25519") =>
  crypto.subtle.generateKey({ name }, false, name === "X25519" ? ["deriveBits"] : ["sign", "verify"]).then((made) => {
    if (!("publicKey" in made)) throw new Error("a pair of keys")
    return made
  })

/** The public key, in the form that the server announces to agents. */
export const raw = (key: CryptoKey) =>
  crypto.subtle.exportKey("raw", key).then((bytes) => Buffer.from(bytes).toString("base64url"))
