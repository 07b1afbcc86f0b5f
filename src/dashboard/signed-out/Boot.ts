// Runs before the first paint. It sets the chosen theme and language, so that the page does not flash.
import { applyPreferences } from "../preferences/Preferences.ts"

applyPreferences()
