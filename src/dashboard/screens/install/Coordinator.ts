interface Coordinated {
  readonly id: string
  readonly nextAction: "reconcile" | "review_run" | "plan_again" | "none"
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const longestPauseMs = 2000

/**
 * Advances a coordinator to a reviewable Run, or to its failure. Each step is one request; the server advances it too, so a
 * pending step is only polled, at growing intervals.
 */
export const advance = async <A extends Coordinated>(
  record: A,
  reconcile: (id: string) => Promise<A>,
  onStep: (record: A) => void = () => undefined,
  pause: (ms: number) => Promise<void> = wait
): Promise<A> => {
  let current = record
  onStep(current)
  for (let attempt = 0; current.nextAction === "reconcile"; attempt += 1) {
    await pause(Math.min(longestPauseMs, 150 * 1.3 ** attempt))
    current = await reconcile(current.id)
    onStep(current)
  }
  return current
}
