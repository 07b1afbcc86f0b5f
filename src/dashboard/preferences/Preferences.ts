export type Language = "en" | "ja"
export type Theme = "system" | "light" | "dark"

export interface Preferences {
  readonly language: Language
  readonly theme: Theme
  /** Single-letter shortcuts; some people need to turn them off. */
  readonly letterKeys: boolean
  /** True if long log lines wrap. */
  readonly wrapLog: boolean
  /** True if this browser shows a notice when a Run that is open in it finishes or needs approval. */
  readonly runNotices: boolean
}

const key = "svc.preferences"

/** For a page rendered ahead of time, when there is no browser to ask. */
export const defaultPreferences: Preferences = {
  language: "en",
  theme: "system",
  letterKeys: true,
  wrapLog: true,
  runNotices: false
}

const browserLanguage = (): Language => {
  for (const tag of navigator.languages) {
    if (tag.startsWith("ja")) return "ja"
    if (tag.startsWith("en")) return "en"
  }
  return "en"
}

const stored = (): Partial<Record<keyof Preferences, unknown>> => {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}")
    return typeof value === "object" && value !== null ? value : {}
  } catch {
    return {}
  }
}

const read = (): Preferences => {
  const found = stored()
  return {
    language: found.language === "en" || found.language === "ja" ? found.language : browserLanguage(),
    theme: found.theme === "light" || found.theme === "dark" ? found.theme : "system",
    letterKeys: found.letterKeys !== false,
    wrapLog: found.wrapLog !== false,
    runNotices: found.runNotices === true
  }
}

let current: Preferences | undefined
const listeners = new Set<() => void>()

export const preferences = (): Preferences => (current ??= read())

/** Puts language and theme on the html element, where the style sheet and assistive technology read them. */
export const applyPreferences = (): void => {
  const { language, theme } = preferences()
  document.documentElement.lang = language
  if (theme === "system") delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
}

export const setPreferences = (change: Partial<Preferences>): void => {
  current = { ...preferences(), ...change }
  try {
    localStorage.setItem(key, JSON.stringify(current))
  } catch {
    // A browser without storage still applies the change for this visit.
  }
  applyPreferences()
  for (const listener of listeners) listener()
}

export const subscribePreferences = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
