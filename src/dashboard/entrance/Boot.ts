// Runs before the first paint: the chosen theme and language, so that nothing flashes. The rest of the page comes after.
import { applyPreferences } from "../preferences/Preferences.ts"

applyPreferences()
