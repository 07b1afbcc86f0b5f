import { useSyncExternalStore } from "react"
import { Icon, type IconName } from "./Icon.tsx"

interface Toast {
  readonly id: number
  readonly text: string
  readonly icon: IconName
}

let toasts: ReadonlyArray<Toast> = []
let nextId = 1
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Toast>): void => {
  toasts = next
  for (const listener of listeners) listener()
}

const briefMs = 4000
const failureMs = 12_000

const show = (text: string, icon: IconName, shownMs: number): void => {
  const id = nextId++
  change([...toasts.slice(-2), { id, text, icon }])
  setTimeout(() => change(toasts.filter((each) => each.id !== id)), shownMs)
}

/** Briefly reports a success, and announces it to assistive technology. */
export const toast = (text: string): void => show(text, "check", briefMs)

/** Reports a failure that does not concern a specific part of the page. Other failures are shown where they occurred. */
export const warn = (text: string): void => show(text, "warning", failureMs)

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const Toasts = () => (
  <output className="toasts">
    {useSyncExternalStore(subscribe, () => toasts).map((each) => (
      <span key={each.id} className="toast">
        <Icon name={each.icon} />
        {each.text}
      </span>
    ))}
  </output>
)
