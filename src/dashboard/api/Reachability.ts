import { useSyncExternalStore } from "react"

// Detects an unreachable server. If the next page cannot be fetched, the navigation to it waits, and the current page
// remains open.

/** Path to ping. Any response shows that the server is available, and the response to this path is the cheapest. */
const probeUrl = "/healthz"
const firstPauseMs = 1000
const longestPauseMs = 10_000
const probeTimeoutMs = 5000
/** How long after a response navigation still assumes that the server is reachable. */
const freshMs = 10_000

interface State {
  readonly isReachable: boolean
  readonly answeredAt: number
}

let state: State = { isReachable: true, answeredAt: Date.now() }
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined
let pauseMs = firstPauseMs

const change = (next: State): void => {
  const changed = next.isReachable !== state.isReachable
  state = next
  if (changed) for (const listener of listeners) listener()
}

export const isReachable = (): boolean => state.isReachable

export const subscribeReachability = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** A hook for components. It returns true if the server can be reached. */
export const useReachable = (): boolean => useSyncExternalStore(subscribeReachability, isReachable, () => true)

/** Records a response of any kind from the server. */
export const reportAnswer = (): void => {
  clearTimeout(timer)
  timer = undefined
  pauseMs = firstPauseMs
  change({ isReachable: true, answeredAt: Date.now() })
}

/** Pings the server now, and repeatedly until it responds. */
export const probe = async (): Promise<boolean> => {
  clearTimeout(timer)
  try {
    await fetch(probeUrl, { cache: "no-store", signal: AbortSignal.timeout(probeTimeoutMs) })
    reportAnswer()
    return true
  } catch {
    clearTimeout(timer)
    timer = setTimeout(() => void probe(), pauseMs)
    pauseMs = Math.min(longestPauseMs, pauseMs * 2)
    change({ ...state, isReachable: false })
    return false
  }
}

/** Resolves once the server responds. */
export const untilReachable = (): Promise<void> =>
  new Promise((resolve) => {
    if (state.isReachable) return resolve()
    const stop = subscribeReachability(() => {
      if (!state.isReachable) return
      stop()
      resolve()
    })
  })

/** Waits for a response before a navigation. Does not wait if the server has responded recently. */
export const reachableForNavigation = async (): Promise<void> => {
  if (state.isReachable && Date.now() - state.answeredAt > freshMs) await probe()
  await untilReachable()
}

/** Loads a part of the application on demand. Waits while the server is unreachable, and fails if the part does not exist. */
export const whenReachable =
  <A>(load: () => Promise<A>) =>
  async (): Promise<A> => {
    try {
      return await load()
    } catch (error) {
      if (await probe()) throw error
      await untilReachable()
      return load()
    }
  }

if (typeof window !== "undefined") {
  window.addEventListener("online", () => void probe())
  window.addEventListener("offline", () => void probe())
}
