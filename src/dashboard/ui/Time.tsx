import { useSyncExternalStore } from "react"
import { exactTime, relativeTime } from "../words/Format.ts"
import { useLanguage } from "../words/Words.ts"

// One clock for the whole page, which ticks as often as its most precise subscriber requires.
let now = Date.now()
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  timer ??= setInterval(() => {
    now = Date.now()
    for (const each of listeners) each()
  }, 1000)
  return () => {
    listeners.delete(listener)
    if (listeners.size === 0 && timer !== undefined) {
      clearInterval(timer)
      timer = undefined
    }
  }
}

/** The current time, in milliseconds, updated every `stepMs`. */
export const useNow = (stepMs: number): number => {
  const read = () => Math.floor(Math.max(now, timer === undefined ? Date.now() : now) / stepMs) * stepMs
  return useSyncExternalStore(subscribe, read)
}

export const Time = ({ at }: { readonly at: string }) => {
  const language = useLanguage()
  const now = useNow(15_000)
  return (
    <time dateTime={at} title={exactTime(language, at)}>
      {relativeTime(language, at, now)}
    </time>
  )
}
