// A flow started by another program ends at its return address, after an apply that may happen days after the link was opened.
// The flow is kept only in this browser: nobody else who views the same Run came from that program.

/** The client that started a flow, and where it receives the result. */
export interface HandOff {
  readonly product: string
  readonly returnUri: string
}

const key = (capsuleId: string): string => `svc.hand-off ${capsuleId}`

/** The longest time that a plan can wait for approval. */
export const handOffKeptMs = 7 * 24 * 3_600_000

interface Kept extends HandOff {
  readonly since: number
  /** The apply that completed it: the person may return from that apply again, but not from later ones. */
  readonly endedWith?: string
}

const keep = (capsuleId: string, kept: Kept): void => {
  try {
    localStorage.setItem(key(capsuleId), JSON.stringify(kept))
  } catch {
    // Without storage the flow ends here, although everything has been created.
  }
}

/** Reads back what has been stored; anything unexpected or too old is ignored. */
export const parseHandOff = (text: string | null, now: number): Kept | undefined => {
  if (text === null) return undefined
  try {
    const found: unknown = JSON.parse(text)
    if (typeof found !== "object" || found === null) return undefined
    if (!("product" in found && "returnUri" in found && "since" in found)) return undefined
    const { product, returnUri, since } = found
    if (typeof product !== "string" || typeof returnUri !== "string" || typeof since !== "number") return undefined
    if (now - since > handOffKeptMs) return undefined
    const endedWith = "endedWith" in found && typeof found.endedWith === "string" ? found.endedWith : undefined
    return { product, returnUri, since, ...(endedWith === undefined ? {} : { endedWith }) }
  } catch {
    return undefined
  }
}

const kept = (capsuleId: string): Kept | undefined => {
  try {
    return parseHandOff(localStorage.getItem(key(capsuleId)), Date.now())
  } catch {
    return undefined
  }
}

export const rememberHandOff = (capsuleId: string, { product, returnUri }: HandOff): void =>
  keep(capsuleId, { product, returnUri, since: Date.now() })

/** The hand-off that this Run of a Capsule belongs to. */
export const handOffOf = (capsuleId: string, runId: string): HandOff | undefined => {
  const found = kept(capsuleId)
  if (found === undefined || (found.endedWith !== undefined && found.endedWith !== runId)) return undefined
  return { product: found.product, returnUri: found.returnUri }
}

/**
 * The person has continued from this Run. If they come back, they may continue again, as the first response may have been lost.
 */
export const endHandOff = (capsuleId: string, runId: string): void => {
  const found = kept(capsuleId)
  if (found !== undefined) keep(capsuleId, { ...found, endedWith: runId })
}

/** Returns true if an address is the promised one, with a payload appended. */
export const leadsTo = (location: string, { returnUri }: HandOff): boolean => location.startsWith(`${returnUri}?`)
