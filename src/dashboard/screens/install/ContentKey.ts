/**
 * A short hash of a request's content (FNV-1a, 64 bits). With the draft's random id it forms an Idempotency-Key that is stable
 * for the same request, even after a reload, and changes with its content. Neither a secret nor a proof.
 */
export const contentKey = (content: unknown): string => {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(JSON.stringify(content))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, "0")
}
