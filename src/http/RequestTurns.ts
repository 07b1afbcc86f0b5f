import type { Turn } from "../http-kit/Exchange.ts"

/** Maximum time spent starting requests in one turn of the main thread. A request that starts runs until it first waits. */
const mostNanos = 20_000_000n

/**
 * Begins requests as they arrive, but only for a limited time per turn of the main thread. Otherwise, a thousand
 * simultaneous requests would block all other work until the last request had begun. The remaining requests wait for later
 * turns. Within a turn, client addresses take turns to start one request each, so that a client with many requests mostly
 * delays its own requests. `now` is a monotonic time in nanoseconds.
 */
export const requestTurns = (now: () => bigint) => {
  const waiting = new Map<string, Array<(turn: Turn) => void>>()
  let turn: Turn | undefined
  let begun = 0n

  const isOver = () => now() - begun > mostNanos

  // Returns the current turn, or begins one. Immediates run after all ready requests have been passed on and before the sockets
  // are polled again, so `next` ends the turn at that point.
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
    /** Calls `answer` in this turn or in a later one. */
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
