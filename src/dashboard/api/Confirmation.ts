import { useSyncExternalStore } from "react"

/** Called by the dialog. The argument is true if the person has confirmed their identity. */
type Settle = (confirmed: boolean) => void

let waiting: ReadonlyArray<Settle> = []
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Settle>): void => {
  waiting = next
  for (const listener of listeners) listener()
}

/**
 * Asks the person to confirm their identity, and returns false if the person does not. Concurrent requests share one prompt.
 * Returns false before the dashboard is shown, because no prompt can be displayed.
 */
export const confirmIdentity = (): Promise<boolean> =>
  listeners.size === 0 ? Promise.resolve(false) : new Promise((settle) => change([...waiting, settle]))

/** Resolves all waiting requests. */
export const settleConfirmation = (confirmed: boolean): void => {
  const settled = waiting
  change([])
  for (const settle of settled) settle(confirmed)
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns true if a request is waiting for a confirmation. */
export const useConfirmationWanted = (): boolean => useSyncExternalStore(subscribe, () => waiting.length > 0)
