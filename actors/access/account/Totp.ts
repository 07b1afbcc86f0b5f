import { createHmac, timingSafeEqual } from "node:crypto"

/**
 * Time-based one-time passwords (RFC 6238) in the form that every authenticator supports: SHA-1, six digits, a new code every 30
 * seconds.
 */
const stepMillis = 30_000
const digits = 6
// A phone's clock may be half a minute off, and a person takes time to type.
const tolerance = 1

/** The code for one time step (RFC 4226, 5.3). */
export const codeOf = (secret: Uint8Array, step: number): string => {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac("sha1", secret).update(counter).digest()
  const offset = digest.readUInt8(digest.length - 1) & 0x0f
  const truncated = digest.readUInt32BE(offset) & 0x7fffffff
  return String(truncated % 10 ** digits).padStart(digits, "0")
}

const isSame = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))

/** The time step of the code, among the steps currently accepted and later than `last`; `undefined` without a match. */
export const stepOf = (secret: Uint8Array, code: string, millis: number, last: number | null): number | undefined => {
  const present = Math.floor(millis / stepMillis)
  for (let step = present - tolerance; step <= present + tolerance; step++) {
    if (step >= 0 && (last === null || step > last) && isSame(codeOf(secret, step), code)) return step
  }
  return undefined
}
