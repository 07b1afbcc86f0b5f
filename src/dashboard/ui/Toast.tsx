import { useSyncExternalStore } from "react"
import { Icon } from "./Icon.tsx"

interface Toast {
  readonly id: number
  readonly text: string
}

let toasts: ReadonlyArray<Toast> = []
let nextId = 1
const listeners = new Set<() => void>()

const change = (next: ReadonlyArray<Toast>): void => {
  toasts = next
  for (const listener of listeners) listener()
}

/** Says that something worked, briefly, where assistive technology hears it. Failures are shown beside what failed instead. */
export const toast = (text: string): void => {
  const id = nextId++
  change([...toasts.slice(-2), { id, text }])
  setTimeout(() => change(toasts.filter((each) => each.id !== id)), 4000)
}

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export const Toasts = () => (
  <output className="toasts">
    {useSyncExternalStore(subscribe, () => toasts).map((each) => (
      <span key={each.id} className="toast">
        <Icon name="check" />
        {each.text}
      </span>
    ))}
  </output>
)
