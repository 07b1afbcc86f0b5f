interface Coordinated {
  readonly id: string
  readonly nextAction: "reconcile" | "review_run" | "plan_again" | "none"
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const longestPauseMs = 2000

/**
 * Advances a coordinator until it has a Run to review or has failed. Each step is one request. The server also advances it, so a
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
