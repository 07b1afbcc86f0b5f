// Runs before the first paint: the chosen theme and language, so that nothing flashes.
import { applyPreferences } from "../preferences/Preferences.ts"

applyPreferences()
