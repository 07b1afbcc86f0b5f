import { onwardPage } from "./oidc/OnwardPage.ts"
import type { Language } from "./oidc/PageWords.ts"

const words = {
  en: { title: "You are signed in", text: "Continue" },
  ja: { title: "サインインしました", text: "続ける" }
} as const satisfies Readonly<Record<Language, unknown>>

/** Continues to one of our own paths, from which the sign-in may redirect to another site. */
export const signedInPage = (language: Language, path: string) =>
  onwardPage({ language, ...words[language], address: path })
