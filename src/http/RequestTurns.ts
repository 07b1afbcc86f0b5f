import type { Turn } from "../http-kit/Exchange.ts"

/**
 * The time in one turn of the main thread during which requests may be begun. A request is begun until it first waits for
 * something.
 */
const mostNanos = 20_000_000n

/**
 * Begins requests as they arrive, but in one turn of the main thread only for a limited time: a thousand that arrive together
 * would keep it from everything else until the last of them had begun. Those that are left wait for later turns, and there one
 * request of each address begins after the other, so whoever sends many mostly waits for their own. `now` is a monotonic time in
 * nanoseconds.
 */
export const requestTurns = (now: () => bigint) => {
  const waiting = new Map<string, Array<(turn: Turn) => void>>()
  let turn: Turn | undefined
  let begun = 0n

  const isOver = () => now() - begun > mostNanos

  // All ready requests are passed on before the sockets are polled again, and immediates run in between.
  const thisTurn = () => {
    if (turn !== undefined) return turn
    turn = { isRenewed: false }
    begun = now()
    setImmediate(next)
    return turn
  }

  const next = () => {
    turn = undefined
    while (waiting.size > 0) {
      const current = thisTurn()
      if (isOver()) return
      for (const [address, requests] of waiting) {
        const begin = requests.shift()
        waiting.delete(address)
        if (requests.length > 0) waiting.set(address, requests)
        begin?.(current)
        break
      }
    }
  }

  return {
    /** Calls `answer` in this turn or a later one. */
    begin: <A>(address: string | undefined, answer: (turn: Turn) => Promise<A>): Promise<A> => {
      const current = thisTurn()
      if (waiting.size === 0 && !isOver()) return answer(current)
      const { promise, resolve } = Promise.withResolvers<A>()
      const requests = waiting.get(address ?? "") ?? []
      waiting.set(address ?? "", requests)
      requests.push((later) => resolve(answer(later)))
      return promise
    }
  }
}
