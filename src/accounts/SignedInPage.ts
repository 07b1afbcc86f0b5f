import { HttpServerResponse } from "effect/http"
import { html, page } from "./oidc/Page.ts"
import type { Language } from "./oidc/PageWords.ts"

const words = {
  en: { title: "You are signed in", onward: "Continue" },
  ja: { title: "サインインしました", onward: "続ける" }
} as const satisfies Readonly<Record<Language, unknown>>

/**
 * Goes on by itself to a path of ours, as a navigation of its own. A redirect would still count as the form's: browsers hold
 * it, and every redirect after it, to where the sign-in page's form may lead, and an application's address is not among those.
 */
export const signedInPage = (language: Language, path: string) => {
  const { onward, title } = words[language]
  return HttpServerResponse.setHeader(
    page({ language, title, body: html`<h1>${title}</h1><p><a href="${path}">${onward}</a></p>` }),
    "refresh",
    `0; url=${path}`
  )
}
