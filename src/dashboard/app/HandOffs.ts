// A flow that another program began ends at its return address, after an apply that may be days after the link. Which one it
// was is kept here, in this browser alone: whoever else looks at the same Run was sent by nobody.

/** The client that began a flow, and where it receives the result. */
export interface HandOff {
  readonly product: string
  readonly returnUri: string
}

const key = (capsuleId: string): string => `svc.hand-off ${capsuleId}`

/** As long as a plan can wait for its approval. */
export const handOffKeptMs = 7 * 24 * 3_600_000

export const rememberHandOff = (capsuleId: string, { product, returnUri }: HandOff): void => {
  try {
    localStorage.setItem(key(capsuleId), JSON.stringify({ product, returnUri, since: Date.now() }))
  } catch {
    // Without storage the flow ends here, with everything made.
  }
}

export const forgetHandOff = (capsuleId: string): void => {
  try {
    localStorage.removeItem(key(capsuleId))
  } catch {
    // Nothing was kept then.
  }
}

/** Reads back what was kept; anything else, and what is too old, is nothing. */
export const parseHandOff = (kept: string | null, now: number): HandOff | undefined => {
  if (kept === null) return undefined
  try {
    const found: unknown = JSON.parse(kept)
    if (
      typeof found !== "object" ||
      found === null ||
      !("product" in found && "returnUri" in found && "since" in found)
    )
      return undefined
    const { product, returnUri, since } = found
    if (typeof product !== "string" || typeof returnUri !== "string" || typeof since !== "number") return undefined
    return now - since > handOffKeptMs ? undefined : { product, returnUri }
  } catch {
    return undefined
  }
}

export const handOffOf = (capsuleId: string): HandOff | undefined => {
  try {
    return parseHandOff(localStorage.getItem(key(capsuleId)), Date.now())
  } catch {
    return undefined
  }
}

/** Whether an address is the one that was promised, with an answer behind it. */
export const leadsTo = (location: string, { returnUri }: HandOff): boolean => location.startsWith(`${returnUri}?`)
