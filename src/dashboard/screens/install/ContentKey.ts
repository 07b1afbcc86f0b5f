/**
 * A short hash of a request's contents (FNV-1a, 64 bits). Together with the draft's random id, it forms an Idempotency-Key.
 * The key is the same for the same request, even after a reload, and changes if the request's contents change. The hash is
 * neither secret nor proof of anything.
 */
export const contentKey = (content: unknown): string => {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(JSON.stringify(content))) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, "0")
}
