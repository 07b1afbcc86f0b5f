import { HttpServerResponse } from "effect/http"
import { html, page } from "./oidc/Page.ts"
import type { Language } from "./oidc/PageWords.ts"

const words = {
  en: { title: "You are signed in", onward: "Continue" },
  ja: { title: "サインインしました", onward: "続ける" }
} as const satisfies Readonly<Record<Language, unknown>>

/**
 * Continues automatically to a path of ours, as a new navigation. A redirect would still count as part of the form's
 * submission: browsers restrict it, and every following redirect, to the form's allowed targets, and an application's address
 * is not one.
 */
export const signedInPage = (language: Language, path: string) => {
  const { onward, title } = words[language]
  return HttpServerResponse.setHeader(
    page({ language, title, body: html`<h1>${title}</h1><p><a href="${path}">${onward}</a></p>` }),
    "refresh",
    `0; url=${path}`
  )
}
