// A flow that another program started ends at the return address of that program, after an apply that may happen days later.
// The flow is stored only in this browser, because other people who view the Run did not come from the program.

/** The client that started a flow, and the address that receives the result. */
export interface HandOff {
  readonly product: string
  readonly returnUri: string
}

const key = (capsuleId: string): string => `svc.hand-off ${capsuleId}`

/** Maximum time for which a plan can wait for approval. */
export const handOffKeptMs = 7 * 24 * 3_600_000

interface Kept extends HandOff {
  readonly since: number
  /**
   * The apply that completed the flow. The person may return to the program from this apply again, but not from later
   * applies.
   */
  readonly endedWith?: string
}

const keep = (capsuleId: string, kept: Kept): void => {
  try {
    localStorage.setItem(key(capsuleId), JSON.stringify(kept))
  } catch {
    // If the browser has no storage, the flow ends here. Nothing is lost, because all records exist on the server.
  }
}

/** Parses a stored value. Ignores unexpected or outdated values. */
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

/** Returns the hand-off to which this Run of a Capsule belongs, if any. */
export const handOffOf = (capsuleId: string, runId: string): HandOff | undefined => {
  const found = kept(capsuleId)
  if (found === undefined || (found.endedWith !== undefined && found.endedWith !== runId)) return undefined
  return { product: found.product, returnUri: found.returnUri }
}

/**
 * Records that the person has gone on from this Run to the program. If the person comes back, they may go on to the program
 * again, because the first response may have been lost.
 */
export const endHandOff = (capsuleId: string, runId: string): void => {
  const found = kept(capsuleId)
  if (found !== undefined) keep(capsuleId, { ...found, endedWith: runId })
}

/** Returns true if an address is the expected return address with an appended payload. */
export const leadsTo = (location: string, { returnUri }: HandOff): boolean => location.startsWith(`${returnUri}?`)
