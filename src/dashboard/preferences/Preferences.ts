export type Language = "en" | "ja"
export type Theme = "system" | "light" | "dark"

export interface Preferences {
  readonly language: Language
  readonly theme: Theme
  /** True if single-letter shortcuts are enabled. Some people need to disable them. */
  readonly letterKeys: boolean
  /** True if long log lines wrap. */
  readonly wrapLog: boolean
  /** True if this browser notifies the person when a Run that is open in the browser finishes or needs approval. */
  readonly runNotices: boolean
}

const key = "svc.preferences"

/** Default for prerendered pages, where there is no browser. */
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

/** Sets the language and the theme on the html element, for the style sheet and for assistive technology. */
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
    // If the browser has no storage, the change applies only until the page is closed.
  }
  applyPreferences()
  for (const listener of listeners) listener()
}

export const subscribePreferences = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
