import { useSyncExternalStore } from "react"
import { defaultPreferences, type Preferences, preferences, subscribePreferences } from "./Preferences.ts"

export const usePreferences = (): Preferences =>
  useSyncExternalStore(subscribePreferences, preferences, () => defaultPreferences)
