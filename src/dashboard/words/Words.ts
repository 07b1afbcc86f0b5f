import { createContext, useContext } from "react"
import type { Bilingual } from "../api/Types.ts"
import type { Language } from "../preferences/Preferences.ts"
import { usePreferences } from "../preferences/UsePreferences.ts"

/**
 * The texts of one screen in both languages. `ja` has the type of `en`, so the code does not compile if a text is missing.
 */
export interface Words<A> {
  readonly en: A
  readonly ja: A
}

/** Set only for prerendered pages, which are rendered without a browser. */
export const FixedLanguage = createContext<Language | undefined>(undefined)

export const useLanguage = (): Language => {
  const fixed = useContext(FixedLanguage)
  const chosen = usePreferences().language
  return fixed ?? chosen
}

export const useWords = <A>(words: Words<A>): A => words[useLanguage()]

export const useBilingual = (): ((text: Bilingual) => string) => {
  const language = useLanguage()
  return (text) => text[language]
}
